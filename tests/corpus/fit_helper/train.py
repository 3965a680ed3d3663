"""One function for a batch of training and of validation; figures come back in pairs."""
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(6)
X = torch.randn(115, 5)
Y = (X[:, 0] > X[:, 1]).long()
make_loader = partial(DataLoader, batch_size=14)


def loss_batch(model, loss_func, xb, yb, opt=None):
    out = model(xb)
    assert out.size(0) == yb.size(0) and F.one_hot(yb, 2).size() == out.size()
    loss = loss_func(out, yb)
    if opt is not None:
        loss.backward()
        opt.step()
        opt.zero_grad()
    return loss.item(), len(xb)


def fit(epochs, model, loss_func, opt, train_dl, valid_dl):
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            loss_batch(model, loss_func, xb, yb, opt)
        model.eval()
        with torch.no_grad():
            losses, nums = zip(*[loss_batch(model, loss_func, xb, yb) for xb, yb in valid_dl])
        val_loss = np.sum(np.multiply(losses, nums)) / np.sum(nums)
        print(epoch, val_loss, sum(nums))


train_dl = make_loader(TensorDataset(X[:80], Y[:80]), shuffle=True)
valid_dl = make_loader(TensorDataset(X[80:], Y[80:]))
model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 2))
optimizers = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
name = "adam" if len(X) > 3 else "sgd"
opt = optimizers[name](model.parameters(), lr=0.03)
fit(3, model, partial(F.cross_entropy, label_smoothing=0.1), opt, train_dl, valid_dl)
torch.save(model.state_dict(), "net.pt")
