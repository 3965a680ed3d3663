"""A batch_sampler of the user's own: batches of sequences of equal length, of differing sizes."""
import random
from collections import defaultdict

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Sequences(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            length = random.randint(3, 6)
            seq = torch.randn(length, dtype=torch.float64)
            self.items.append((seq.unsqueeze(-1), seq.abs().max()))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def lengths(self):
        return [len(s) for s, _ in self.items]


class SameLengthBatches:
    """Buckets by length, so that nothing has to be padded."""

    def __init__(self, lengths, batch_size):
        self.batch_size = batch_size
        self.buckets = defaultdict(list)
        for i, l in enumerate(lengths):
            self.buckets[l].append(i)

    def __iter__(self):
        batches = []
        for bucket in self.buckets.values():
            random.shuffle(bucket)
            for k in range(0, len(bucket), self.batch_size):
                batches.append(bucket[k:k + self.batch_size])
        random.shuffle(batches)
        # the first one is never a tiny one
        batches.sort(key=len, reverse=True)
        yield from batches

    def __len__(self):
        return sum((len(b) + self.batch_size - 1) // self.batch_size for b in self.buckets.values())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1]).squeeze(-1)


random.seed(12)
torch.manual_seed(12)
dataset = Sequences(150)
loader = DataLoader(dataset, batch_sampler=SameLengthBatches(dataset.lengths(), 15))
net = Net().double()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
mse = nn.MSELoss()
print("batches:", len(loader))
for epoch in range(3):
    total = 0.0
    for seqs, maxima in loader:
        loss = mse(net(seqs), maxima)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * seqs.size(0)
    print(epoch, total / len(dataset))
