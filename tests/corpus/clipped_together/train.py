"""Gradients that are clipped together with those of layers that are not trained; an optimizer made after backward()."""
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(5, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.encoder(x)))


X = torch.randn(31, 5)
Y = (X[:, 0] - X[:, 1] > 0).long() + (X[:, 2] > 0.5).long()
loader = DataLoader(TensorDataset(X, Y), batch_size=6, shuffle=True)
model = Net()
prior = torch.zeros(3).requires_grad_()
params = list(model.head.parameters())
params.extend([prior])
opt = optim.SGD(params, lr=0.5)  # the encoder is not trained, but its gradients count
for epoch in range(3):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model.head(torch.tanh(model.encoder(x))) + prior, y)
        model.zero_grad()
        prior.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        opt.step()
        total += loss.item() * len(x)
    print(epoch, total / 31, prior.tolist())

temperature = nn.Parameter(torch.ones(()))
for epoch in range(3):
    for x, y in loader:
        loss = F.cross_entropy(model(x) * temperature, y)
        model.zero_grad()
        temperature.grad = None
        loss.backward()
        opt = optim.SGD([*model.parameters(), temperature], lr=0.5 / (epoch + 1))
        opt.step()
    print(epoch, loss.item(), temperature.item())
torch.save(model.state_dict(), "net.pt")
