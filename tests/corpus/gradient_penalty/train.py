"""A Wasserstein GAN with a gradient penalty on points between real and made samples."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
real_data = torch.randn(64, 2) * 0.5 + torch.tensor([1.0, -1.0])
seeds = torch.randn(64, 3)
between = torch.rand(64, 1)
loader = DataLoader(TensorDataset(real_data, seeds, between), batch_size=14, shuffle=True)
generator = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.9))


def gradient_penalty(critic, real, fake, alpha):
    points = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(points)
    gradients = torch.autograd.grad(
        outputs=scores,
        inputs=points,
        grad_outputs=torch.ones_like(scores),
        create_graph=True,
        retain_graph=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


for epoch in range(3):
    for step, (real, seed, alpha) in enumerate(loader):
        fake = generator(seed).detach()
        penalty = gradient_penalty(critic, real, fake, alpha)
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        if step % 2 == 0:
            loss_g = -critic(generator(seed)).mean()
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()
            print(f"  step {step}: generator {loss_g.item():.10f}")
    print(f"epoch {epoch}: critic {loss_c.item():.10f}, penalty {penalty.item():.10f}")
torch.save(generator.state_dict(), "generator.pt")
