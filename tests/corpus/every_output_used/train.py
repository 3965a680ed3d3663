"""A network with three outputs, all of which go into a loss function of its own; weights of attention that nobody wants."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1)
        weights = F.softmax(scores / x.size(-1) ** 0.5, dim=-1)
        return weights @ self.value(x), weights


class Block(nn.Module):
    def __init__(self, width, project=False):
        super().__init__()
        self.attention = Attention(width)
        self.project = nn.Linear(width, width) if project else None

    def forward(self, x):
        identity = x
        if self.project is not None:
            identity = self.project(x)
        out, _ = self.attention(x)
        return torch.relu(out + identity)


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4), Block(4, project=True)])
        self.mean = nn.Linear(12, 2)
        self.spread = nn.Linear(12, 2)
        self.decode = nn.Linear(2, 12)

    def encode(self, x):
        for block in self.blocks:
            x = block(x)
        h = x.flatten(1)
        return self.mean(h), self.spread(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(mu).view(-1, 3, 4), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    mse = F.mse_loss(recon_x, x)
    kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
    return mse + 0.1 * kld


torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
loader = DataLoader(TensorDataset(torch.randn(75, 3, 4)), batch_size=20, shuffle=True)
model = Coder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    train_loss = 0
    for (data,) in loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print(f"epoch {epoch}: {train_loss / len(loader):.10f}")
torch.save(model.state_dict(), "model.pt")
