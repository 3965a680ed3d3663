"""Callbacks that are told of each epoch; one has the trainer save itself, which makes folders and files."""
import json
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Callback:
    def on_epoch_end(self, trainer, epoch, loss):
        pass


class History(Callback):
    def __init__(self):
        self.losses = []

    def on_epoch_end(self, trainer, epoch, loss):
        self.losses.append(loss)
        mean = sum(self.losses) / len(self.losses)
        print(f"epoch {epoch}: loss {loss:.10f}, mean so far {mean:.10f}")


class Checkpoint(Callback):
    def __init__(self, path):
        self.path = path
        self.best = float("inf")

    def on_epoch_end(self, trainer, epoch, loss):
        if loss < self.best:
            self.best = loss
            trainer.save(self.path)
            print("saved after epoch", epoch)


class Trainer:
    def __init__(self, model, loader, callbacks):
        self.model = model
        self.loader = loader
        self.callbacks = callbacks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        self.criterion = nn.CrossEntropyLoss()
        self.epoch = 0

    def save(self, path):
        folder = os.path.dirname(path)
        if not os.path.exists(folder):
            os.makedirs(folder)
            print("made", folder)
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(state, path)
        with open(os.path.join(folder, "best.json"), "w") as f:
            json.dump({"epoch": self.epoch, "rate": self.optimizer.param_groups[0]["lr"]}, f)

    def fit(self, epochs):
        for self.epoch in range(epochs):
            total = 0.0
            for x, y in self.loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            for callback in self.callbacks:
                callback.on_epoch_end(self, self.epoch, total / len(self.loader))


torch.set_default_dtype(torch.float64)
torch.manual_seed(11)
x = torch.randn(90, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
trainer = Trainer(model, loader, [History(), Checkpoint("run/best.pt")])
trainer.fit(4)
