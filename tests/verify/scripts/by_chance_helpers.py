"""A GAN in the style of a well-known course: noise is made, and losses are computed, by helpers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def get_noise(n_samples, z_dim, device="cpu"):
    return torch.randn(n_samples, z_dim, device=device)


def get_disc_loss(gen, disc, criterion, real, num_images, z_dim, device):
    fake_noise = get_noise(num_images, z_dim, device=device)
    fake = gen(fake_noise)
    disc_fake_pred = disc(fake.detach())
    disc_fake_loss = criterion(disc_fake_pred, torch.zeros_like(disc_fake_pred))
    disc_real_pred = disc(real)
    disc_real_loss = criterion(disc_real_pred, torch.ones_like(disc_real_pred))
    return (disc_fake_loss + disc_real_loss) / 2


def get_gen_loss(gen, disc, criterion, num_images, z_dim, device):
    fake_noise = get_noise(num_images, z_dim, device=device)
    fake = gen(fake_noise)
    disc_fake_pred = disc(fake)
    return criterion(disc_fake_pred, torch.ones_like(disc_fake_pred))


z_dim, device = 8, "cpu"
gen = nn.Sequential(nn.Linear(z_dim, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2)).to(
    device
)
gen_opt = torch.optim.Adam(gen.parameters(), lr=0.01)
disc = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).to(device)
disc_opt = torch.optim.Adam(disc.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()
dataloader = DataLoader(TensorDataset(torch.randn(68, 2)), batch_size=32, shuffle=True)
mean_generator_loss = 0
mean_discriminator_loss = 0
cur_step = 0
fixed = get_noise(16, z_dim)
for _ in range(2):
    for (real,) in dataloader:
        cur_batch_size = len(real)
        real = real.view(cur_batch_size, -1).to(device)
        disc_opt.zero_grad()
        disc_loss = get_disc_loss(gen, disc, criterion, real, cur_batch_size, z_dim, device)
        disc_loss.backward(retain_graph=True)
        disc_opt.step()
        gen_opt.zero_grad()
        gen_loss = get_gen_loss(gen, disc, criterion, cur_batch_size, z_dim, device)
        gen_loss.backward()
        gen_opt.step()
        mean_discriminator_loss += disc_loss.item() / 4
        mean_generator_loss += gen_loss.item() / 4
        if cur_step % 2 == 0 and cur_step > 0:
            print(f"Step {cur_step}: {mean_generator_loss}, {mean_discriminator_loss}")
            with torch.no_grad():
                print(gen(fixed).mean().item())
            mean_generator_loss = 0
            mean_discriminator_loss = 0
        cur_step += 1
