"""Two networks with an optimizer each that train against each other; the noise is data."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
data = torch.randn(330, 2) * 0.3 + torch.tensor([1.0, -1.0])
noise = torch.randn(330, 4)
loader = DataLoader(TensorDataset(data, noise), batch_size=32, shuffle=True)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-2, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-2, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()

for epoch in range(2):
    for real, z in loader:
        ones = torch.ones(real.size(0), 1)
        zeros = torch.zeros(real.size(0), 1)
        # discriminator
        opt_d.zero_grad()
        fake = generator(z)
        loss_real = criterion(discriminator(real), ones)
        loss_real.backward()
        loss_fake = criterion(discriminator(fake.detach()), zeros)
        loss_fake.backward()
        loss_d = loss_real + loss_fake
        opt_d.step()
        # generator
        opt_g.zero_grad()
        loss_g = criterion(discriminator(fake), ones)
        loss_g.backward()
        opt_g.step()
    print("[%d] D %.10f G %.10f" % (epoch, loss_d.item(), loss_g.item()))
torch.save({"g": generator.state_dict(), "d": discriminator.state_dict()}, "gan.pt")
