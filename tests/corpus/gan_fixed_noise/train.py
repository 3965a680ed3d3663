"""A GAN whose noise always has the batch size, also where the last batch is short."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)

BATCH_SIZE = 24
Z = 4
gen = nn.Sequential(nn.Linear(Z, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
disc = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
opt_gen = torch.optim.Adam(gen.parameters(), lr=0.01, betas=(0.5, 0.999))
opt_disc = torch.optim.Adam(disc.parameters(), lr=0.01, betas=(0.5, 0.999))
criterion = nn.BCELoss()
points = torch.randn(200, 2) * 0.2 + torch.tensor([0.5, -0.5])
dataloader = DataLoader(TensorDataset(points), batch_size=BATCH_SIZE, shuffle=True)
fixed_noise = torch.randn(8, Z)
dice = torch.Generator().manual_seed(1)

gen.train()
disc.train()
for epoch in range(3):
    for batch_idx, (real,) in enumerate(dataloader):
        noise = torch.randn(BATCH_SIZE, Z, generator=dice)
        fake = gen(noise)

        disc_real = disc(real).reshape(-1)
        loss_disc_real = criterion(disc_real, torch.ones_like(disc_real))
        disc_fake = disc(fake.detach()).reshape(-1)
        loss_disc_fake = criterion(disc_fake, torch.zeros_like(disc_fake))
        loss_disc = (loss_disc_real + loss_disc_fake) / 2
        disc.zero_grad()
        loss_disc.backward()
        opt_disc.step()

        output = disc(fake).reshape(-1)
        loss_gen = criterion(output, torch.ones_like(output))
        gen.zero_grad()
        loss_gen.backward()
        opt_gen.step()

        if batch_idx % 4 == 0:
            print(f"[{epoch}/3] {batch_idx}/{len(dataloader)} D {loss_disc:.10f} G {loss_gen:.10f}")
            with torch.no_grad():
                shown = gen(fixed_noise)
            print("   ", shown.mean(0).tolist(), real[:5].sum().item())
torch.save({"gen": gen.state_dict(), "disc": disc.state_dict()}, "gan.pt")
