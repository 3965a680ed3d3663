"""Batches that a generator function hands on as dictionaries, in training and in evaluation."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)


def batches(loader, scale=1.0):
    for number, (x, y) in enumerate(loader):
        yield {"number": number, "x": x * scale, "y": y}


def evaluate(model, loader):
    correct, seen, total = 0, 0, 0.0
    with torch.no_grad():
        for batch in batches(loader):
            out = model(batch["x"])
            correct += (out.argmax(1) == batch["y"]).sum().item()
            seen += len(batch["y"])
            total += nn.functional.cross_entropy(out, batch["y"], reduction="sum").item()
    return correct / seen, total / seen, seen


x = torch.randn(183, 5)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 1).long()
loader = DataLoader(TensorDataset(x[:120], y[:120]), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(x, y), batch_size=25)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

for epoch in range(3):
    for batch in batches(loader, scale=0.9):
        loss = nn.functional.cross_entropy(model(batch["x"]), batch["y"])
        # a learning rate made of the loss
        for group in optimizer.param_groups:
            group["lr"] = 0.2 * min(1.0, loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if batch["number"] == 0:
            print("first batch", loss.item(), batch["y"].shape[0])
    accuracy, mean, seen = evaluate(model, test_loader)
    print(f"epoch {epoch}: accuracy {accuracy:.6f}, loss {mean:.10f}, of {seen}")
