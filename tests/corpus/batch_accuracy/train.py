"""Accuracy as a mean of batch means, kept as tensors, through helper functions; the whole model is saved."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def get_accuracy(logit, target):
    return (logit.argmax(dim=1) == target).double().mean()


def loss_batch(model, loss_func, xb, yb, opt=None):
    loss = loss_func(model(xb), yb)
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
        val_loss, nums, acc = 0.0, 0, torch.tensor(0.0, dtype=torch.float64)
        with torch.no_grad():
            for xb, yb in valid_dl:
                loss, num = loss_batch(model, loss_func, xb, yb)
                val_loss += loss * num
                nums += num
                acc += get_accuracy(model(xb), yb)
        print(epoch, val_loss / nums, (acc / len(valid_dl)).item())


torch.manual_seed(70)
x = torch.rand(240, 8, dtype=torch.float64)
y = (x[:, :4].sum(1) > x[:, 4:].sum(1)).long()
train_dl = DataLoader(TensorDataset(x[:170], y[:170]), batch_size=32, shuffle=True)
valid_dl = DataLoader(TensorDataset(x[170:], y[170:]), batch_size=32)   # 32 + 32 + 6
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).double()
opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
fit(5, model, F.cross_entropy, opt, train_dl, valid_dl)
torch.save(model, "model.pt")
