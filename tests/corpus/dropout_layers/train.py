"""Dropout between layers, three shuffled epochs; the network is called again after the loop."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
features = torch.randn(150, 6)
labels = (features[:, 0] * features[:, 1] > 0).long()
train_set, test_set = random_split(TensorDataset(features, labels), [117, 33])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
test_loader = DataLoader(test_set, batch_size=8)

model = nn.Sequential(
    nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 16), nn.SELU(),
    nn.AlphaDropout(0.1), nn.Linear(16, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(3):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * x.size(0)
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: loss {running / len(train_set):.12f} accuracy {correct / len(test_set):.4f}")

# how sure is it? dropout stays on, and noise is added
model.train()
with torch.no_grad():
    votes = torch.stack([model(features[:5] + 0.1 * torch.randn(5, 6)).softmax(1) for _ in range(4)])
print("spread", ["%.12f" % value for value in votes.std(0)[:, 0].tolist()])
print("next", "%.12f" % torch.rand(1).item())
torch.save(model.state_dict(), "model.pt")
