"""A first batch of each loader is kept, to see in every epoch what becomes of it."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)


class Trainer:
    def __init__(self, model, loader, lr):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.fixed, self.wanted = next(iter(self.loader))

    def train(self):
        self.model.train()
        total = 0.0
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(x)
        return total / len(self.loader.dataset)

    def look(self):
        # the network is still in training mode: this moves its running statistics, too
        outputs = self.model(self.fixed).detach()
        error = (outputs - self.wanted).abs()
        return error.max().item(), error.argmax().item(), outputs[0].item(), len(self.fixed)


def first(loader):
    return next(iter(loader))


torch.manual_seed(0)
dataset = TensorDataset(torch.randn(41, 4), torch.randn(41, 1))
order = torch.Generator().manual_seed(3)
loader = DataLoader(dataset, batch_size=7, shuffle=True, generator=order, num_workers=2)
test_loader = DataLoader(dataset, batch_size=9)
probe, _ = first(test_loader)
model = nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
trainer = Trainer(model, loader, 0.05)
for epoch in range(3):
    print(f"epoch {epoch}: loss {trainer.train():.12f}")
    print("  fixed batch: {:.12f} at {}, first {:.12f} of {}".format(*trainer.look()))
    model.eval()
    with torch.no_grad():
        error = sum(((model(x) - y) ** 2).sum().item() for x, y in test_loader)
        print(f"  test {error / len(dataset):.12f}, probe {model(probe).std().item():.12f}")
torch.save(model.state_dict(), "model.pt")
