"""A recurrent network that reads a curve and says what shape it has."""
from torch import nn


class SequenceClassifier(nn.Module):
    def __init__(self, classes, hidden):
        super().__init__()
        self.recurrent = nn.GRU(1, hidden, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(2 * hidden)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, curves):
        states, _ = self.recurrent(curves)
        # the mean over time, not the last state: the two directions end at different ends
        return self.head(self.norm(states.mean(dim=1)))
