"""Contrastive learning as in SimCLR: both views of a batch go through the network as one."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(2)
samples = torch.randn(50, 8)
groups = (samples[:, 0] > 0).long()
loader = DataLoader(TensorDataset(samples, groups), batch_size=11, shuffle=True, drop_last=True)
encoder = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
head = nn.Linear(4, 2)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)


def info_nce(features, n_views, temperature=0.5):
    n = features.shape[0] // n_views
    labels = torch.cat([torch.arange(n) for _ in range(n_views)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).double()
    features = F.normalize(features, dim=1)
    similarity = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    similarity = similarity[~mask].view(similarity.shape[0], -1)
    positives = similarity[labels.bool()].view(labels.shape[0], -1)
    negatives = similarity[~labels.bool()].view(similarity.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(logits.shape[0], dtype=torch.long))


for epoch in range(3):
    losses, correct, count = 0.0, 0, 0
    for x, y in loader:
        features = encoder(torch.cat([1.1 * x, 0.9 * x + 0.1], dim=0))
        first, second = torch.chunk(features, 2, dim=0)
        guesses = head(features)
        targets = torch.cat([y, y])
        loss = info_nce(features, 2) + F.cross_entropy(guesses, targets)
        loss = loss + 0.1 * F.mse_loss(first, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses += loss.item()
        correct += (guesses.argmax(dim=1) == targets).sum().item()
        count += targets.size(0)
    print(f"epoch {epoch}: loss {losses / len(loader):.10f}, accuracy {correct / count:.6f}")
torch.save({"encoder": encoder.state_dict(), "head": head.state_dict()}, "views.pt")
