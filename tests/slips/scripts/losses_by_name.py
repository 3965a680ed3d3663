import argparse, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
p = argparse.ArgumentParser(); p.add_argument("--loss", default="ce"); args = p.parse_args()
x = torch.randn(23, 4); y = torch.randint(0, 3, (23,))
losses = {"ce": nn.CrossEntropyLoss(), "weighted": nn.CrossEntropyLoss(weight=torch.tensor([1., 2., 3.])), "sum": nn.CrossEntropyLoss(reduction="sum")}
criterion = losses[args.loss]
if args.loss == "other":
    other = nn.MultiMarginLoss()
else:
    other = nn.CrossEntropyLoss()
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(2):
    for a, b in DataLoader(TensorDataset(x, y), 5):
        opt.zero_grad()
        loss = criterion(net(a), b)
        loss.backward(); opt.step()
        print(loss.item())
