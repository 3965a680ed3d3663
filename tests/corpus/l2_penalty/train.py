"""An L2 penalty of the weights added to the loss by hand, and an L1 one on the first layer."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

lambda2 = 1e-2
lambda1 = 1e-3

torch.manual_seed(17)
inputs = torch.randn(135, 20).double()
targets = inputs[:, :2].sum(dim=1, keepdim=True)   # only two features matter
loader = DataLoader(TensorDataset(inputs, targets), batch_size=16, shuffle=True)

model = nn.Sequential(nn.Linear(20, 10), nn.ReLU(), nn.Linear(10, 1)).double()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.5)

for epoch in range(5):
    data_loss_sum = 0.0
    loss_sum = 0.0
    for x, t in loader:
        data_loss = criterion(model(x), t)
        l2_reg = sum(p.pow(2.0).sum() for p in model.parameters())
        l1_reg = model[0].weight.abs().sum()
        loss = data_loss + lambda2 * l2_reg + lambda1 * l1_reg
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        data_loss_sum += data_loss.item() * x.shape[0]
        loss_sum += loss.item() * x.shape[0]
    n = len(loader.dataset)
    print("epoch", epoch, "mse", data_loss_sum / n, "with penalties", loss_sum / n)

importance = model[0].weight.detach().abs().sum(dim=0)
print("important:", importance.topk(2).indices.sort().values.tolist())
torch.save(model.state_dict(), "weights.pt")
