"""Batches of 13 that no number of workers divides, a ragged last batch, a model builder function."""
import torch, torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(1234)

def make_model(n_in, n_out, hidden=(24, 12)):
    layers = []
    for h in hidden:
        layers += [nn.Linear(n_in, h), nn.Tanh()]
        n_in = h
    layers.append(nn.Linear(n_in, n_out))
    return nn.Sequential(*layers)

def make_data(n):
    x = torch.randn(n, 6, dtype=torch.double)
    y = (x[:, 0] * x[:, 1] > 0).long()
    return TensorDataset(x, y)

train_ds = make_data(200)      # 15 batches of 13 and one of 5
valid_ds = make_data(100)      # 7 batches of 13 and one of 9
train_dl = DataLoader(train_ds, 13, True)
valid_dl = DataLoader(valid_ds, 13)

net = make_model(6, 2).double()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.RMSprop(net.parameters(), lr=0.01)

for epoch in range(4):
    net.train()
    epoch_loss = 0.
    for i, (xb, yb) in enumerate(train_dl):
        if epoch == 0 and i == 0: print(xb.shape, yb.shape)
        pred = net(xb)
        loss = loss_fn(pred, yb)
        opt.zero_grad(); loss.backward(); opt.step()
        epoch_loss += loss.item() * xb.size(0)
    net.eval()
    with torch.no_grad():
        acc = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in valid_dl) / len(valid_ds)
    print(epoch, epoch_loss / len(train_ds), acc)
