# refused: the hidden state is carried from batch to batch; its rows belong to the rows of the next batch
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
stream = torch.randint(0, 12, (20, 121))     # 20 streams side by side
chunks = stream[:, :120].view(20, 12, 10).transpose(0, 1).reshape(-1, 10)
targets = stream[:, 1:].reshape(20, 12, 10).transpose(0, 1).reshape(-1, 10)
loader = DataLoader(TensorDataset(chunks, targets), batch_size=20, shuffle=False)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 8)
        self.rnn = nn.LSTM(8, 16, batch_first=True)
        self.out = nn.Linear(16, 12)

    def forward(self, x, hidden):
        h, hidden = self.rnn(self.embed(x), hidden)
        return self.out(h), hidden


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    hidden = None
    total = 0.0
    for x, t in loader:
        if hidden is not None:
            hidden = tuple(h.detach() for h in hidden)
        logits, hidden = model(x, hidden)
        loss = criterion(logits.view(-1, 12), t.view(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))
