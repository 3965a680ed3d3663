"""Curves of four shapes, with noise; the task is to tell the shape."""
import math

import torch
from torch.utils.data import DataLoader, Dataset


class Curves(Dataset):
    SHAPES = (
        torch.sin,
        lambda t: torch.sign(torch.sin(t)),
        lambda t: (t % (2 * math.pi)) / math.pi - 1,
        lambda t: torch.sin(t) * torch.exp(-t / 6),
    )

    def __init__(self, size, seed, length=24, noise=0.4):
        generator = torch.Generator().manual_seed(seed)
        time = torch.linspace(0, 4 * math.pi, length)
        self.labels = torch.randint(len(self.SHAPES), (size,), generator=generator)
        phases = torch.rand(size, generator=generator) * 2 * math.pi
        curves = [
            self.SHAPES[label](time + phase)
            for label, phase in zip(self.labels.tolist(), phases.tolist(), strict=True)
        ]
        self.curves = torch.stack(curves)
        self.curves += noise * torch.randn(self.curves.shape, generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        # (time, features): a sequence with one value at each time
        return self.curves[index].unsqueeze(-1), self.labels[index]


def make_loaders(batch_size):
    return {
        "train": DataLoader(Curves(800, seed=1), batch_size=batch_size, shuffle=True),
        "valid": DataLoader(Curves(210, seed=2), batch_size=batch_size),
        "test": DataLoader(Curves(210, seed=3), batch_size=batch_size),
    }
