"""A GAN that draws its noise for every batch, labels softened by chance, fixed noise to look at."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
nz = 5
data = torch.randn(90, 2) * 0.2 + 1
loader = DataLoader(TensorDataset(data), batch_size=16, shuffle=True)
netG = nn.Sequential(nn.Linear(nz, 12), nn.ReLU(), nn.Linear(12, 2))
netD = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(12, 1), nn.Sigmoid())
criterion = nn.BCELoss()
fixed_noise = torch.randn(8, nz)
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.01, betas=(0.5, 0.999))

for epoch in range(3):
    for i, (real,) in enumerate(loader, 0):
        netD.zero_grad()
        batch_size = real.size(0)
        label = torch.full((batch_size,), 1.0) - 0.1 * torch.rand(batch_size)
        output = netD(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        noise = torch.randn(batch_size, nz)
        fake = netG(noise)
        output = netD(fake.detach()).view(-1)
        errD_fake = criterion(output, torch.zeros(batch_size))
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()

        netG.zero_grad()
        output = netD(fake).view(-1)
        errG = criterion(output, torch.ones(batch_size))
        errG.backward()
        optimizerG.step()
        if i % 3 == 0:
            print("[%d/3][%d/%d] Loss_D: %.10f Loss_G: %.10f" % (epoch, i, len(loader), errD.item(), errG.item()))
    with torch.no_grad():
        print("looks", "%.10f" % netG(fixed_noise).mean().item())
torch.save(netG.state_dict(), "g.pt")
torch.save(netD.state_dict(), "d.pt")
