"""Dropout between the layers of recurrent networks, batch first and steps first."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
torch.set_default_dtype(torch.float64)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 6, num_layers=2, dropout=0.2, batch_first=True)
        self.gru = nn.GRU(6, 5, num_layers=3, dropout=0.3, bidirectional=True)
        self.fc = nn.Linear(10, 2)

    def forward(self, x):
        out, _ = self.lstm(x)
        out, _ = self.gru(out.transpose(0, 1))
        return self.fc(out[-1])


sequences = torch.randn(64, 5, 3)
labels = (sequences[:, :, 0].sum(1) > 0).long()
loader = DataLoader(TensorDataset(sequences, labels), batch_size=12, shuffle=True)
model = Tagger()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for epoch in range(3):
    running_loss = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(f"[{epoch + 1}] loss: {running_loss / len(loader):.12f}")
torch.save(model.state_dict(), "lstm.pt")
