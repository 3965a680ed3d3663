"""Sparse embeddings, and experts that few samples reach; the last batch has one sample, so others compute with stand-ins."""
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
X = torch.randn(31, 5)
Y = (X[:, 0] - X[:, 1] > 0).long() + (X[:, 2] > 0.5).long()


class Numbered(Dataset):
    def __len__(self):
        return 31

    def __getitem__(self, i):
        return i, X[i], Y[i]


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(5, 4)
        self.experts = nn.ModuleList([nn.Linear(4, 3) for _ in range(3)])

    def forward(self, x):
        return torch.stack([self.experts[int(row[0] > 0)](row) for row in self.enc(x)])


loader = DataLoader(Numbered(), batch_size=6, shuffle=True)
table = nn.Embedding(31, 3, sparse=True)
scale = nn.Parameter(torch.ones(3))
model = Experts()
o1 = optim.SparseAdam(table.parameters(), lr=0.05)
o2 = optim.SGD([scale], lr=0.1)
o3 = optim.Adam(model.parameters(), lr=0.05, weight_decay=0.1)
for epoch in range(3):
    total = 0.0
    for i, x, y in loader:
        for o in (o1, o2, o3):
            o.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out + table(i) * scale, y)
        loss.backward(retain_graph=True)
        (0.1 * out.pow(2).mean()).backward()
        for o in (o1, o2, o3):
            o.step()
        total += loss.item() * len(y)
    sizes = [p.abs().sum().item() for p in model.parameters()]
    print(epoch, total / 31, table.weight.abs().sum().item(), scale.tolist(), sizes)
torch.save({"table": table.state_dict(), "model": model.state_dict()}, "last.pt")
