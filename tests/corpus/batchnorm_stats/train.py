"""BatchNorm1d whose running statistics are printed after each epoch; the last batch is ragged."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def batches(n, seed):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=gen, dtype=torch.float64) * 3 + 1
    y = x.pow(2).sum(1, keepdim=True).sqrt()
    return TensorDataset(x, y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(5)
        self.hidden = nn.Linear(5, 20)
        self.norm2 = nn.BatchNorm1d(20, momentum=0.3)
        self.out = nn.Linear(20, 1)

    def forward(self, x):
        x = torch.relu(self.norm2(self.hidden(self.norm(x))))
        return self.out(x)


def main():
    torch.manual_seed(11)
    model = Net().to(torch.float64)
    loader = DataLoader(batches(130, 0), batch_size=25, shuffle=True)   # last one: 5
    test_loader = DataLoader(batches(60, 1), batch_size=25)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    mse = nn.MSELoss()

    for epoch in range(3):
        model.train()
        total = 0
        for x, y in loader:
            loss = mse(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * x.shape[0]
        print("epoch", epoch, "mse", total / len(loader.dataset))
        print("  running mean", [round(v, 10) for v in model.norm.running_mean.tolist()])
        print("  running var ", [round(v, 10) for v in model.norm.running_var.tolist()])
        print("  hidden mean norm", model.norm2.running_mean.norm().item(),
              "tracked", model.norm2.num_batches_tracked.item())

        model.eval()
        total = 0
        with torch.no_grad():
            for x, y in test_loader:
                total += mse(model(x), y).item() * x.shape[0]
        print("  test", total / len(test_loader.dataset))
    torch.save(model.state_dict(), "bn.pt")


main()
