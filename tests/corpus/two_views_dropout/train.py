"""Two noisy views of every sample go through a network with dropout as one; parts are recomputed."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
torch.set_default_dtype(torch.float64)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.25))
        self.second = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.25))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(checkpoint(self.second, self.first(x), use_reentrant=False))


x = torch.randn(52, 4)
y = torch.randint(0, 3, (52,))
loader = DataLoader(TensorDataset(x, y), batch_size=9, shuffle=True)
net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for xb, yb in loader:
        both = torch.cat([xb + 0.1 * torch.randn_like(xb), xb + 0.1 * torch.randn_like(xb)])
        out = net(both)
        loss = F.cross_entropy(out, torch.cat([yb, yb]))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} last loss {loss.item():.12f}")
torch.save(net.state_dict(), "net.pt")
