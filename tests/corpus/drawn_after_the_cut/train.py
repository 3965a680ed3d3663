"""Two batches by hand in a round, an estimate after the step that draws its own, and a draw for all in between."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(8)
torch.set_default_dtype(torch.float64)
users, items = 40, 30
ratings = torch.randn(users, 3) @ torch.randn(3, items)
labelled = torch.randn(90, 6)
labels = (labelled[:, 0] > 0).long()
bs = 10


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(users, 3)
        self.item = nn.Embedding(items, 3)
        self.side = nn.Linear(6, 2)

    def forward(self, u, i, x):
        return (self.user(u) * self.item(i)).sum(1), self.side(x)


def sample(n):
    pick = torch.randint(0, len(labelled), (n,))
    return labelled[pick], labels[pick]


model = Factors()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(2):
    for step in range(6):
        u = torch.randint(0, users, (bs,))
        i = torch.randint(0, items, (bs,))
        k = torch.randint(0, len(labelled), (bs,))
        weight = 0.5 + 0.1 * torch.rand(1)
        predicted, side = model(u, i, labelled[k])
        loss = F.mse_loss(predicted, ratings[u, i]) + weight.item() * F.cross_entropy(side, labels[k])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            with torch.no_grad():
                x, y = sample(25)
                held = (model.side(x).argmax(1) == y).double().mean()
            print(f"epoch {epoch} step {step}: loss {loss.item():.10f} held {held.item():.4f}")
print("next", torch.randint(1000, (3,)).tolist())
torch.save(model.state_dict(), "model.pt")
