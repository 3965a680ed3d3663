"""Parameters of no network: a temperature, a vector for each sample, one that joins late, and a layer never called."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)


class Numbered(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 6)
        self.y = (self.x[:, 0] - self.x[:, 1] > 0).long() + (self.x[:, 2] > 1).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return i, self.x[i], self.y[i]


data = Numbered(101)
loader = DataLoader(data, batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 10))
classes = nn.Linear(10, 3, bias=False)  # only its weight is used
temperature = nn.Parameter(torch.ones(()))
latent = torch.zeros(101, 2, requires_grad=True)
offset = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.AdamW(
    [{"params": [*model.parameters(), *classes.parameters(), temperature]}, {"params": [latent], "lr": 0.1}], lr=0.01
)

for epoch in range(4):
    if epoch == 2:
        optimizer.add_param_group({"params": [offset], "lr": 0.5})
    total, right = 0.0, 0
    for index, x, y in loader:
        features = model(torch.cat([x, latent[index]], dim=1))
        scores = F.normalize(features) @ F.normalize(classes.weight).T / temperature + offset
        loss = F.cross_entropy(scores, y) + 1e-3 * latent.pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_([*model.parameters(), temperature, latent], 0.2)
        optimizer.step()
        total += loss.item() * len(y)
        right += (scores.argmax(1) == y).sum().item()
    print(f"{epoch}: loss {total / len(data):.10f} right {right} norm {norm:.10f}")
    print(f"   temperature {temperature.item():.10f} offset {offset.tolist()} latent {latent.norm():.10f}")
torch.save({"model": model.state_dict(), "classes": classes.weight, "latent": latent, "t": temperature}, "all.pt")
