"""An object is given a batch, and then told to learn from it (as image translation does it)."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)


class Translator:
    def __init__(self, width, lr, cuda):
        self.cuda = cuda
        self.net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 6))
        self.critic = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.rightness = nn.MSELoss()

    def set_input(self, batch):
        self.real_a = batch[0]
        self.real_b = batch[1]
        if self.cuda:
            self.real_a, self.real_b = self.real_a.cuda(), self.real_b.cuda()

    def forward(self):
        self.fake_b = self.net(self.real_a)

    def backward_critic(self):
        fake = self.critic(self.fake_b.detach())
        real = self.critic(self.real_b)
        self.loss_critic = (
            self.rightness(fake, torch.zeros_like(fake))
            + self.rightness(real, torch.ones_like(real))
        ) / 2
        self.loss_critic.backward()

    def backward_net(self):
        fake = self.critic(self.fake_b)
        self.loss_gan = self.rightness(fake, torch.ones_like(fake))
        self.loss_l1 = (self.fake_b - self.real_b).abs().mean() * 10
        self.loss_net = self.loss_gan + self.loss_l1
        self.loss_net.backward()

    def set_requires_grad(self, nets, requires_grad=False):
        if not isinstance(nets, list):
            nets = [nets]
        for net in nets:
            if net is not None:
                for param in net.parameters():
                    param.requires_grad = requires_grad

    def optimize(self):
        self.forward()
        self.set_requires_grad(self.critic, True)
        self.critic_optimizer.zero_grad()
        self.backward_critic()
        self.critic_optimizer.step()
        self.set_requires_grad(self.critic, False)
        self.optimizer.zero_grad()
        self.backward_net()
        self.optimizer.step()

    def losses(self):
        return {
            "critic": self.loss_critic.item(),
            "gan": self.loss_gan.item(),
            "l1": self.loss_l1.item(),
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuda", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(1)
    a = torch.randn(46, 6)
    loader = DataLoader(TensorDataset(a, a.roll(1, 1).tanh()), batch_size=9, shuffle=True)
    translator = Translator(12, 0.01, args.cuda)
    for epoch in range(3):
        for i, batch in enumerate(loader):
            translator.set_input(batch)
            translator.optimize()
            if i % 2 == 0:
                words = [f"{name} {value:.12f}" for name, value in translator.losses().items()]
                print(f"epoch {epoch} batch {i}: {', '.join(words)}")
    torch.save({"net": translator.net.state_dict()}, "model.pt")


main()
