"""A generator whose one batch of fakes both losses go back through; the second loss twice, halved."""
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)


class Discriminator(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.disc = nn.Sequential(nn.Linear(features, 24), nn.LeakyReLU(0.01), nn.Linear(24, 1), nn.Sigmoid())

    def forward(self, x):
        return self.disc(x)


class Generator(nn.Module):
    def __init__(self, z_dim, features):
        super().__init__()
        self.gen = nn.Sequential(nn.Linear(z_dim, 24), nn.BatchNorm1d(24), nn.LeakyReLU(0.01), nn.Linear(24, features))

    def forward(self, x):
        return self.gen(x)


real_data = torch.randn(205, 3) * 0.4 + 1
noises = torch.randn(205, 5)
loader = DataLoader(TensorDataset(real_data, noises), batch_size=32, shuffle=True)
disc = Discriminator(3)
gen = Generator(5, 3)
opt_disc = optim.Adam(disc.parameters(), lr=0.01)
opt_gen = optim.SGD(gen.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
criterion = nn.BCELoss()

for epoch in range(3):
    for batch_idx, (real, noise) in enumerate(loader):
        ### Train Discriminator: max log(D(real)) + log(1 - D(G(z)))
        fake = gen(noise)
        disc_real = disc(real).view(-1)
        lossD_real = criterion(disc_real, torch.ones_like(disc_real))
        disc_fake = disc(fake).view(-1)
        lossD_fake = criterion(disc_fake, torch.zeros_like(disc_fake))
        lossD = (lossD_real + lossD_fake) / 2
        disc.zero_grad()
        lossD.backward(retain_graph=True)
        opt_disc.step()

        ### Train Generator, through the same fakes
        output = disc(fake).view(-1)
        lossG = criterion(output, torch.ones_like(output))
        gen.zero_grad()
        (lossG / 2).backward(retain_graph=True)
        (lossG / 2).backward()
        nn.utils.clip_grad_norm_(gen.parameters(), 0.5)
        opt_gen.step()
    with torch.no_grad():
        fakes = gen(noises[:8])
    print(f"Epoch [{epoch}/3] Loss D: {lossD:.10f}, loss G: {lossG:.10f}, fakes {fakes.mean():.10f}")
torch.save({"gen": gen.state_dict(), "disc": disc.state_dict(), "opt": opt_gen.state_dict()}, "gan.pt")
