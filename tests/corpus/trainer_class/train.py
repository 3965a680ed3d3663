"""A Trainer class that keeps model, loaders and optimizer as attributes and stops early with patience."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    """Noisy sine waves of three frequencies."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 3, (n,), generator=g)
        t = torch.linspace(0, 6.28, 20, dtype=torch.float64)
        noise = torch.randn(n, 20, generator=g, dtype=torch.float64)
        self.x = torch.sin(t * (self.labels + 1).unsqueeze(1)) + 1.2 * noise

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.x[i], self.labels[i]


class Trainer:
    def __init__(self, model, train_data, val_data, batch_size=16, lr=0.05, patience=2):
        self.model = model
        self.train_loader = DataLoader(train_data, batch_size=batch_size, shuffle=True)
        self.val_loader = DataLoader(val_data, batch_size=batch_size)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()
        self.patience = patience
        self.best_loss = float("inf")
        self.bad_epochs = 0

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total, hits = 0.0, 0
        for x, y in self.val_loader:
            out = self.model(x)
            total += self.criterion(out, y).item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
        n = len(self.val_loader.dataset)
        return total / n, hits / n

    def fit(self, epochs):
        for epoch in range(epochs):
            train_loss = self.train_epoch()
            val_loss, val_acc = self.validate()
            print(f"[{epoch:02d}] train={train_loss:.10f} val={val_loss:.10f} acc={val_acc:.3f}")
            if val_loss < self.best_loss:
                self.best_loss = val_loss
                self.bad_epochs = 0
                self.save("checkpoint.pth")
            else:
                self.bad_epochs += 1
                if self.bad_epochs >= self.patience:
                    print("Early stopping at epoch", epoch)
                    break

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "best_loss": self.best_loss}, path)


if __name__ == "__main__":
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 3)).double()
    trainer = Trainer(model, Waves(150, 1), Waves(90, 2))
    trainer.fit(epochs=30)
    print("best validation loss", trainer.best_loss)
