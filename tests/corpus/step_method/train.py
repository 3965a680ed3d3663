"""The training step is a method of the model, which a wrapper around forward() does not see."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch):
        x, y = batch
        return self.loss(self(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


torch.manual_seed(81)
x = torch.randn(145, 6, dtype=torch.float64)
y = x[:, :3].argmax(1)
train_loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)

model = LitClassifier().double()
optimizer = model.configure_optimizers()
for epoch in range(4):
    total = 0.0
    for batch in train_loader:
        loss = model.training_step(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch %d: %.12f" % (epoch, total / len(train_loader)))
torch.save(model.state_dict(), "lit.pt")
