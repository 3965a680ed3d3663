"""zip of two loaders of equal length and batch size: labelled and unlabelled samples in one step."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(88)
torch.set_default_dtype(torch.float64)

means = torch.tensor([[1.0, 0.0, 0.5, -1.0], [-1.0, 0.5, 0.0, 1.0]])
y = torch.randint(0, 2, (300,))
x = means[y] + torch.randn(300, 4)

labelled_loader = DataLoader(TensorDataset(x[:115], y[:115]), batch_size=20, shuffle=True)
unlabelled_loader = DataLoader(TensorDataset(x[115:230]), batch_size=20, shuffle=True)
test_loader = DataLoader(TensorDataset(x[230:], y[230:]), batch_size=25)

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
alpha = 0.3

for epoch in range(4):
    net.train()
    sup, unsup, steps = 0.0, 0.0, 0
    for (xl, yl), (xu,) in zip(labelled_loader, unlabelled_loader):
        supervised = F.cross_entropy(net(xl), yl)
        logp = F.log_softmax(net(xu), dim=1)
        entropy = -(logp.exp() * logp).sum(dim=1).mean()
        loss = supervised + alpha * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sup += supervised.item()
        unsup += entropy.item()
        steps += 1

    net.eval()
    with torch.no_grad():
        correct = 0
        for xb, yb in test_loader:
            correct += (net(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch}: supervised {sup / steps:.10f} entropy {unsup / steps:.10f} "
          f"test {correct}/{len(test_loader.dataset)}")
