"""Loaders inside of objects that move batches; outputs with names; steps that are methods."""
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Output = namedtuple("Output", ["loss", "logits"])


def to_device(data, device):
    if isinstance(data, (list, tuple)):
        return [to_device(x, device) for x in data]
    return data.to(device, non_blocking=True)


class DeviceLoader:
    def __init__(self, dl, device):
        self.dl = dl
        self.device = device

    def __iter__(self):
        for b in self.dl:
            yield to_device(b, self.device)

    def __len__(self):
        return len(self.dl)


def accuracy(outputs, labels):
    preds = torch.max(outputs, dim=1)[1]
    return torch.tensor(torch.sum(preds == labels).item() / len(preds))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x, labels=None):
        logits = self.layers(x)
        return Output(loss=F.cross_entropy(logits, labels), logits=logits)

    def training_step(self, batch):
        x, labels = batch
        return self(x, labels).loss

    def validation_step(self, batch):
        x, labels = batch
        out = self(x, labels=labels)
        return {"loss": out.loss.detach(), "accuracy": accuracy(out.logits, labels)}

    def epoch_end(self, epoch, result):
        print("epoch {}: train {:.10f} loss {:.10f} accuracy {:.10f}".format(epoch, *result))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    outputs = [model.validation_step(batch) for batch in loader]
    losses = torch.stack([x["loss"] for x in outputs])
    accuracies = torch.stack([x["accuracy"] for x in outputs])
    return losses.mean().item(), accuracies.mean().item()


X = torch.randn(107, 6)
Y = X[:, :3].argmax(1)
train_dl = DeviceLoader(DataLoader(TensorDataset(X[:80], Y[:80]), batch_size=12, shuffle=True), device)
test_dl = DeviceLoader(DataLoader(TensorDataset(X[80:], Y[80:]), batch_size=10), device)
model = to_device(Net(), device)
optimizer = getattr(torch.optim, "Adam")(model.parameters(), lr=0.02)
for epoch in range(3):
    model.train()
    losses = []
    for batch in train_dl:
        loss = model.training_step(batch)
        losses.append(loss.detach())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.epoch_end(epoch, (torch.stack(losses).mean().item(), *evaluate(model, test_dl)))
torch.save(model.state_dict(), "net.pt")
