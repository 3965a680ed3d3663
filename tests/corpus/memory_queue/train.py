"""A queue of earlier embeddings that all workers must keep alike (momentum contrast in small)."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(13)
x = torch.randn(192, 12)
loader = DataLoader(TensorDataset(x), batch_size=16, shuffle=True, drop_last=True)
encoder = nn.Linear(12, 8)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.03, momentum=0.9)
queue = F.normalize(torch.randn(64, 8), dim=1)
pointer = 0

for epoch in range(2):
    for (xb,) in loader:
        q = F.normalize(encoder(xb), dim=1)
        with torch.no_grad():
            k = F.normalize(encoder(xb * 0.9), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ queue.t()
        logits = torch.cat([positive, negative], dim=1) / 0.2
        loss = F.cross_entropy(logits, torch.zeros(len(xb), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue[pointer:pointer + len(xb)] = k
        pointer = (pointer + len(xb)) % 64
    print(epoch, loss.item())
