"""Batches that are met in the loop are kept, whole ones and parts, to be looked at after it."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.probe = None

    def train(self):
        self.model.train()
        for batch in self.loader:
            x, y = batch
            if self.probe is None:
                self.probe = batch
            self.latest = x
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def look(self):
        self.model.eval()
        x, y = self.probe
        error = nn.functional.mse_loss(self.model(x), y).item()
        return len(x), error, self.model(self.latest).sum().item()


torch.manual_seed(0)
dataset = TensorDataset(torch.randn(53, 4), torch.randn(53, 1))
loader = DataLoader(dataset, batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
trainer = Trainer(model, loader)
first = None
kept = []
for epoch in range(3):
    trainer.train()
    print("epoch {}: probe of {}, error {:.12f}, latest {:.12f}".format(epoch, *trainer.look()))
    model.eval()
    total = 0.0
    with torch.no_grad():
        for i, batch in enumerate(loader):
            batch = [part.to("cpu") for part in batch]
            x, y = batch
            if first is None:
                first = x[:3]
            if i == 2:
                kept.append(batch)
            total += ((model(x) - y) ** 2).sum().item()
        for x, y in kept:
            error = nn.functional.l1_loss(model(x), y).item()
            print(f"  kept {len(x)}: {error:.12f}, {model(first).flatten().tolist()[-1]:.12f}")
    print(f"  error {total / len(dataset):.12f}")
everything = [batch for batch in loader]
print([len(x) for x, _ in everything], sum(y.sum().item() for _, y in everything))
torch.save(model.state_dict(), "model.pt")
