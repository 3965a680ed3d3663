"""A small diffusion network: a time step and noise for every sample of every batch."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T = 20
betas = torch.linspace(1e-4, 0.2, T)
alphas_bar = torch.cumprod(1 - betas, dim=0)


class Denoiser(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.width = width
        self.inp = nn.Linear(2, width)
        self.time = nn.Linear(width, width)
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        half = self.width // 2
        freqs = torch.exp(-math.log(1000.0) * torch.arange(half) / half)
        angles = t[:, None].to(x.dtype) * freqs[None, :]
        embedding = torch.cat([angles.sin(), angles.cos()], dim=-1)
        return self.out(self.inp(x) + self.time(embedding))


angle = torch.rand(120) * 2 * math.pi
points = torch.stack([angle.cos(), angle.sin()], dim=1)
loader = DataLoader(TensorDataset(points), batch_size=32, shuffle=True)
model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for epoch in range(3):
    losses = []
    for (x0,) in loader:
        t = torch.randint(0, T, (x0.shape[0],))
        noise = torch.randn_like(x0)
        a = alphas_bar[t][:, None]
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        loss = nn.functional.mse_loss(model(xt, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.12f}")

with torch.no_grad():
    x = torch.randn(6, 2)
    for step in reversed(range(T)):
        eps = model(x, torch.full((6,), step))
        x = (x - betas[step] / (1 - alphas_bar[step]).sqrt() * eps) / (1 - betas[step]).sqrt()
        if step > 0:
            x = x + betas[step].sqrt() * torch.randn_like(x)
print("samples", " ".join(f"{value:.10f}" for value in x.flatten().tolist()))
torch.save(model.state_dict(), "ddpm.pt")
