import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)
x = torch.randn(77, 10)
loader = DataLoader(TensorDataset(x), batch_size=25, shuffle=True)
net = nn.Linear(10, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)

for epoch in range(2):
    for (xb,) in loader:
        z = net(xb)
        z = z - z.mean(dim=0)
        cov = (z.T @ z) / (z.size(0) - 1)
        off_diagonal = cov - torch.diag(torch.diag(cov))
        std = torch.sqrt(z.var(dim=0) + 1e-4)
        loss = off_diagonal.pow(2).sum() + torch.relu(1 - std).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
