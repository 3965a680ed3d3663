import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 5)
        self.out = nn.Linear(5, 4)
    def forward(self, x):
        h = x.new_zeros(x.shape[1], 5)
        outs = []
        for xt in x:
            h = self.cell(xt, h)
            outs.append(self.out(h))
        return torch.stack(outs)
x = torch.randn(24, 6, 3); y = torch.randint(0, 4, (24, 6))
loader = DataLoader(TensorDataset(x, y), batch_size=6)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    out = model(a.permute(1, 0, 2))
    loss = F.cross_entropy(out.flatten(0, 1), b.t().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
