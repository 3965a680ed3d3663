"""Two tasks whose losses are weighed by parameters that only the loss uses."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)

X = torch.randn(77, 8)
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).long()
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 16)
        self.classes, self.value = nn.Linear(16, 2), nn.Linear(16, 1)
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = torch.tanh(self.base(x))
        return {"class": self.classes(h), "value": self.value(h).squeeze(-1)}


model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(3):
    first = second = 0.0
    for x, y in loader:
        out = model(x)
        l1 = nn.functional.cross_entropy(out["class"], y)
        l2 = nn.functional.mse_loss(out["value"], x.sum(1))
        s1, s2 = model.log_vars[0], model.log_vars[1]
        loss = torch.exp(-s1) * l1 + s1 + torch.exp(-s2) * l2 + s2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first += l1.item()
        second += l2.item()
    print(epoch, first / len(loader), second / len(loader), model.log_vars.tolist())
torch.save(model.state_dict(), "mt.pt")
