"""One long pass, in which a network begins to look at all rows in the middle."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 5)
        self.second = nn.Linear(5, 1)

    def forward(self, x, step):
        hidden = torch.tanh(self.first(x))
        if step > 70:
            rows = [row for row in hidden]
            hidden = hidden - 0.1 * torch.stack(rows[1:] + rows[:1])
        return self.second(hidden).squeeze(1)


x = torch.randn(800, 5)
loader = DataLoader(TensorDataset(x, x.prod(1)), batch_size=4)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step, (a, b) in enumerate(loader):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(a, step), b).backward()
    optimizer.step()
print([round(value, 9) for value in net.second.weight.flatten().tolist()])
