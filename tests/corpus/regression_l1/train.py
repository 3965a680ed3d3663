"""float32 regression: SmoothL1 loss, a mean absolute error metric and an R2 from summed squares."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Friedman(Dataset):
    def __init__(self, n_samples, seed):
        g = torch.Generator()
        g.manual_seed(seed)
        self.x = torch.rand(n_samples, 5, generator=g)
        x = self.x
        self.y = (10 * torch.sin(3.14159 * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
                  + 10 * x[:, 3] + 5 * x[:, 4]) / 10

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, index):
        return {"features": self.x[index], "target": self.y[index]}


def main(args):
    torch.manual_seed(args.seed)
    train_loader = DataLoader(Friedman(240, 1), batch_size=args.bs, shuffle=True)
    test_set = Friedman(110, 2)
    test_loader = DataLoader(test_set, batch_size=args.bs)
    mean_y = test_set.y.mean().item()

    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    criterion = nn.SmoothL1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        train_mae, n = 0.0, 0
        for batch in train_loader:
            pred = model(batch["features"]).squeeze(1)
            loss = criterion(pred, batch["target"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_mae += (pred.detach() - batch["target"]).abs().sum().item()
            n += batch["target"].numel()

        model.eval()
        mae, ss_res, ss_tot = 0.0, 0.0, 0.0
        with torch.no_grad():
            for batch in test_loader:
                pred = model(batch["features"]).squeeze(1)
                err = pred - batch["target"]
                mae += err.abs().sum().item()
                ss_res += (err ** 2).sum().item()
                ss_tot += ((batch["target"] - mean_y) ** 2).sum().item()
        print(f"epoch {epoch}: train mae {train_mae / n:.4f}, test mae {mae / len(test_set):.4f}, "
              f"r2 {1 - ss_res / ss_tot:.4f}")
    torch.save(model.state_dict(), "regressor.pt")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--bs", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--seed", type=int, default=0)
    main(ap.parse_args())
