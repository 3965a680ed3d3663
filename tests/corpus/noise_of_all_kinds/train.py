"""Noise by torch, by numpy and of a fixed size, normal, uniform, by category and by chance."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(5)
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)
        self.b = nn.Linear(6, 3)

    def forward(self, x):
        h = F.rrelu(self.a(x), training=self.training)
        h = h * torch.bernoulli(torch.sigmoid(h.detach()))
        h = h + torch.normal(torch.zeros_like(h), 0.1) * torch.empty_like(h).uniform_(0.5, 1.5)
        return self.b(h)


x = torch.randn(60, 4)
y = x.argmax(1) % 3
loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)
model = Noisy()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    losses = 0.0
    for xb, yb in loader:
        noise = torch.tensor(np.random.normal(0, 0.1, (xb.shape[0], 4)))
        everywhere = 0.1 * torch.randn(4)
        out = model(xb + noise + everywhere)
        picked = F.gumbel_softmax(out, tau=0.7)
        sampled = torch.multinomial(out.detach().softmax(1), 1).squeeze(1)
        weight = (sampled == yb).to(out.dtype) + torch.distributions.Gamma(2.0, 1.0).sample((len(xb),))
        loss = (weight * F.cross_entropy(out, yb, reduction="none")).mean() + (picked ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses += loss.item()
    print(f"{epoch} {losses / len(loader):.12f}")
print("%.12f %.12f" % (torch.rand(1).item(), np.random.rand()))
torch.save(model.state_dict(), "w.pt")
