"""Images mirrored and shifted as they are read, batch normalisation and dropout."""

import random
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

PROCESSES = int(sys.argv[1])


class Images(Dataset):
    def __init__(self, count):
        self.images = torch.randn(count, 1, 8, 8)
        self.labels = (self.images.mean((1, 2, 3)) > 0).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if torch.rand(()) < 0.5:
            image = image.flip(-1)
        if random.random() < 0.5:
            image = image.flip(-2)
        return image + np.random.normal(0, 0.1), self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Linear(64, 2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        x = F.dropout2d(x, 0.2, self.training)
        return self.fc(F.dropout(x.flatten(1), 0.5, self.training))


torch.manual_seed(1)
loader = DataLoader(Images(42), batch_size=8, shuffle=True, num_workers=PROCESSES)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    print(f"epoch {epoch} loss {total / 42:.8f}")
