"""Noise, times and codes that are drawn for every sample, and a factor for every batch."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x = torch.randn(46, 6)
loader = DataLoader(TensorDataset(x), batch_size=8, shuffle=True)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.times = nn.Embedding(10, 6)
        layer = nn.TransformerEncoderLayer(6, 2, 12, dropout=0.2, batch_first=True)
        self.mix = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(6, 6)

    def forward(self, x, t):
        hidden = torch.stack([x, self.times(t)], 1)
        return self.out(self.mix(hidden)[:, 0])


model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
for epoch in range(2):
    for step, (clean,) in enumerate(loader):
        t = torch.randint(0, 10, (clean.shape[0],))
        noise = torch.randn_like(clean)
        more = torch.normal(0.0, 0.1, (clean.size(0), 6))
        strength = torch.rand(1)
        kept = F.gumbel_softmax(clean, tau=1.0)
        noisy = clean + strength * noise * (t[:, None] / 10) + more + 0.1 * kept
        loss = F.mse_loss(model(noisy, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"{epoch} {step} {loss.item():.8f}")
