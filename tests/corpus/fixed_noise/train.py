"""Networks with batch statistics that look at fixed noise while they train."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
torch.set_default_dtype(torch.float64)
loader = DataLoader(TensorDataset(torch.randn(70, 3) + 1, torch.randn(70, 2)), batch_size=16)
fixed_noise = torch.randn(5, 2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, z):
        return self.main(z)


netG = Generator()
netD = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
criterion = nn.BCELoss(size_average=True)
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.01)
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.01)
for epoch in range(2):
    for i, (real, z) in enumerate(loader):
        netD.zero_grad()
        label = torch.full((real.size(0),), 1.0)
        output = netD(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        fake = netG(z)
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()).view(-1), label)
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake).view(-1), label)
        errG.backward()
        optimizerG.step()
        if i % 2 == 0:
            picture = netG(fixed_noise)
            print(f"{epoch} {i} {errD_real.item() + errD_fake.item():.10f} {errG.item():.10f} "
                  f"{D_x:.10f} {picture.detach().sum().item():.10f}")
torch.save(netG.state_dict(), "g.pt")
