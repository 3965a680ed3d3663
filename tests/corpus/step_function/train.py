"""train_step and eval_step functions that take a batch and return floats; the loop only adds them up."""
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(90)
torch.set_default_dtype(torch.float64)


def make_blobs(n):
    labels = torch.randint(0, 3, (n,))
    angles = labels * 2.0944
    return TensorDataset(torch.stack([angles.cos(), angles.sin()], 1) + 0.6 * torch.randn(n, 2), labels)


train_loader = DataLoader(make_blobs(155), batch_size=20, shuffle=True)
valid_loader = DataLoader(make_blobs(64), batch_size=20)

net = nn.Sequential(nn.Linear(2, 16), nn.ELU(), nn.Linear(16, 3))
opt = optim.NAdam(net.parameters(), lr=0.01)


def train_step(batch):
    net.train()
    x, y = batch
    opt.zero_grad()
    logits = net(x)
    loss = F.cross_entropy(logits, y, label_smoothing=0.1)
    loss.backward()
    opt.step()
    return loss.item()


@torch.no_grad()
def eval_step(batch):
    net.eval()
    x, y = batch
    logits = net(x)
    return F.cross_entropy(logits, y, reduction='sum').item(), (logits.argmax(1) == y).sum().item()


for epoch in range(4):
    losses = [train_step(batch) for batch in train_loader]
    valid_loss = valid_hits = 0
    for batch in valid_loader:
        loss, hits = eval_step(batch)
        valid_loss += loss
        valid_hits += hits
    n = len(valid_loader.dataset)
    print(f'{epoch} {sum(losses) / len(losses):.12f} {valid_loss / n:.12f} {valid_hits / n:.4f}')
