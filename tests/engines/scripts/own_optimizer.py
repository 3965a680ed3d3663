"""An optimizer of the script's own, whose constructor insists on a learning rate."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Slow(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad, alpha=-group["lr"] / self.steps)


torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
x = torch.randn(40, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=9, shuffle=True)
model = nn.Linear(3, 1)
optimizer = Slow(model.parameters(), lr=0.3)
criterion = nn.MSELoss()
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {model.weight.tolist()} after {optimizer.steps} steps")
torch.save(model.state_dict(), "last.pt")
