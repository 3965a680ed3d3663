"""A list of three callbacks of different classes: one prints, one lowers the learning rate by the
loss, one stops early. Each is given the loss of every batch.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)


class Printer:
    def on_batch(self, trainer, step, loss):
        if step % 3 == 0:
            print("step", step, "loss", loss)

    def on_epoch(self, trainer, epoch, loss):
        print("epoch", epoch, "loss", loss)


class Lowering:
    """Divides the learning rate whenever a batch is worse than the best so far."""

    def __init__(self, factor):
        self.factor = factor
        self.best = float("inf")

    def on_batch(self, trainer, step, loss):
        if loss > self.best * 1.5:
            for group in trainer.optimizer.param_groups:
                group["lr"] = group["lr"] / self.factor
        self.best = min(self.best, loss)

    def on_epoch(self, trainer, epoch, loss):
        print("lr", trainer.optimizer.param_groups[0]["lr"])


class Stopping:
    def __init__(self, patience):
        self.patience = patience
        self.last = None

    def on_batch(self, trainer, step, loss):
        pass

    def on_epoch(self, trainer, epoch, loss):
        if self.last is not None and loss > self.last * 0.97:
            self.patience -= 1
        self.last = loss
        if self.patience == 0:
            trainer.stopped = True


class Trainer:
    def __init__(self, model, loader, callbacks):
        self.model = model
        self.loader = loader
        self.callbacks = callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.criterion = nn.MSELoss()
        self.stopped = False

    def fit(self, epochs):
        for epoch in range(epochs):
            total, count = 0.0, 0
            for step, (x, y) in enumerate(self.loader):
                loss = self.criterion(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                for callback in self.callbacks:
                    callback.on_batch(self, step, loss.item())
                total += loss.item() * len(x)
                count += len(x)
            for callback in self.callbacks:
                callback.on_epoch(self, epoch, total / count)
            if self.stopped:
                print("stopped after", epoch)
                break


x = torch.randn(61, 4)
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]) + 0.3 * torch.randn(61, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
trainer = Trainer(model, loader, [Printer(), Lowering(1.3), Stopping(2)])
trainer.fit(6)
print("weights", sum(p.abs().sum().item() for p in model.parameters()))
