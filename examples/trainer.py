"""A Trainer class: loaders, model and optimizer are its attributes; it resumes and stops early.

The task is regression: the strength of a made-up material from eight properties of it.

In one process:      python examples/trainer.py --epochs 20
With two workers:    trainera run examples/trainer.py -n 2 -- --epochs 20
What would change:   trainera convert examples/trainer.py --diff
Is it the same:      trainera verify examples/trainer.py -n 2 -- --epochs 20

Started again with --resume it goes on after the last epoch, in one process or in many:
a checkpoint of either is a checkpoint of the other.
"""
import argparse
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Materials(Dataset):
    """Eight properties of a sample and its strength, with noise of measurement."""

    def __init__(self, size, seed):
        generator = torch.Generator().manual_seed(seed)
        self.properties = torch.rand(size, 8, generator=generator) * 2 - 1
        a, b, c, d = self.properties[:, :4].unbind(dim=1)
        strength = torch.sin(3 * a) + b * c + d.abs()
        self.strength = strength + 0.05 * torch.randn(size, generator=generator)

    def __len__(self):
        return len(self.strength)

    def __getitem__(self, index):
        return self.properties[index], self.strength[index]


class Regressor(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(8, hidden), nn.GELU(),
            nn.Linear(hidden, hidden), nn.GELU(),
        )
        self.head = nn.Linear(hidden, 1)

    def forward(self, properties):
        return self.head(self.body(properties)).squeeze(-1)


class Trainer:
    def __init__(self, model, train_set, valid_set, args):
        self.args = args
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=args.batch_size)
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr, weight_decay=0.01)
        # The learning rate is halved when the validation error has not fallen for 2 epochs.
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.optimizer, factor=0.5, patience=2
        )
        self.epoch = 0
        self.best_error = float("inf")
        self.epochs_without_gain = 0

    def fit(self):
        while self.epoch < self.args.epochs:
            loss = self.train_epoch()
            error = self.validate()
            self.scheduler.step(error)
            self.epoch += 1

            improved = error < self.best_error
            if improved:
                self.best_error = error
                self.epochs_without_gain = 0
            else:
                self.epochs_without_gain += 1

            rate = self.optimizer.param_groups[0]["lr"]
            mark = " *" if improved else ""
            print(f"epoch {self.epoch:2d}: loss {loss:.4f}, error {error:.4f}, lr {rate:g}{mark}")
            self.save()

            if self.epochs_without_gain >= self.args.patience:
                print(f"no gain for {self.args.patience} epochs: stop")
                break
        print(f"best error {self.best_error:.4f}")

    def train_epoch(self):
        self.model.train()
        losses = []
        for properties, strength in self.train_loader:
            properties = properties.to(self.device)
            strength = strength.to(self.device)
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(properties), strength)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def validate(self):
        """The mean absolute error on the validation set."""
        self.model.eval()
        absolute_error = 0.0
        with torch.no_grad():
            for properties, strength in self.valid_loader:
                properties = properties.to(self.device)
                strength = strength.to(self.device)
                absolute_error += (self.model(properties) - strength).abs().sum().item()
        return absolute_error / len(self.valid_loader.dataset)

    def save(self):
        checkpoint = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "epoch": self.epoch,
            "best_error": self.best_error,
            "epochs_without_gain": self.epochs_without_gain,
        }
        torch.save(checkpoint, self.args.checkpoint)

    def resume(self):
        checkpoint = torch.load(self.args.checkpoint, map_location=self.device)
        self.model.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.scheduler.load_state_dict(checkpoint["scheduler"])
        self.epoch = checkpoint["epoch"]
        self.best_error = checkpoint["best_error"]
        self.epochs_without_gain = checkpoint["epochs_without_gain"]
        print(f"resumed after epoch {self.epoch}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--patience", type=int, default=5)
    parser.add_argument("--checkpoint", default="trainer.pt")
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(1)
    trainer = Trainer(Regressor(), Materials(1200, seed=2), Materials(330, seed=3), args)
    if args.resume and os.path.exists(args.checkpoint):
        trainer.resume()
    trainer.fit()


if __name__ == "__main__":
    main()
