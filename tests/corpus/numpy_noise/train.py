"""A GAN as tutorials write it: noise from numpy, types by the device, Variables around all."""

import random

import numpy as np
import torch
from torch import nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

latent_dim, n_epochs = 4, 3
cuda = True if torch.cuda.is_available() else False
np.random.seed(3)
random.seed(4)
torch.manual_seed(5)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(latent_dim, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())

    def forward(self, point):
        return self.model(point)


adversarial_loss = torch.nn.BCELoss()
generator = Generator().double()
discriminator = Discriminator().double()
points = torch.randn(41, 2, dtype=torch.float64) * 0.3 + 1
dataloader = DataLoader(TensorDataset(points), batch_size=8, shuffle=True)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.999))
Tensor = torch.cuda.DoubleTensor if cuda else torch.DoubleTensor

for epoch in range(n_epochs):
    for i, (imgs,) in enumerate(dataloader):
        # Labels are smoothed, by another amount in every batch.
        real = 1.0 - 0.1 * random.random()
        valid = Variable(Tensor(imgs.size(0), 1).fill_(real), requires_grad=False)
        fake = Variable(Tensor(imgs.size(0), 1).fill_(0.0), requires_grad=False)
        real_imgs = Variable(imgs.type(Tensor))

        optimizer_G.zero_grad()
        z = Variable(Tensor(np.random.normal(0, 1, (imgs.shape[0], latent_dim))))
        gen_imgs = generator(z)
        g_loss = adversarial_loss(discriminator(gen_imgs), valid)
        g_loss.backward()
        optimizer_G.step()

        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(real_imgs), valid)
        fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()
        if i % 2 == 0:
            print(
                "[Epoch %d/%d] [Batch %d/%d] [D loss: %.10f] [G loss: %.10f]"
                % (epoch, n_epochs, i, len(dataloader), d_loss.item(), g_loss.item())
            )

torch.save(generator.state_dict(), "generator.pt")
print("last draw", np.random.rand(), random.random())
