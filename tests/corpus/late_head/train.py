"""A second head whose loss counts only from the second epoch on: until then it gets no gradients."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 8)
        self.main = nn.Linear(8, 3)
        self.side = nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.trunk(x))
        return {"main": self.main(h), "side": self.side(h)}


torch.manual_seed(11)
torch.set_default_dtype(torch.float64)
x = torch.randn(90, 6)
data = TensorDataset(x, x[:, :3].argmax(1), x.sum(1, keepdim=True))
loader = DataLoader(data, batch_size=25, shuffle=True)
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for inputs, kind, size in loader:
        out = model(inputs)
        loss = criterion(out["main"], kind)
        if epoch > 0:
            loss = loss + 0.5 * ((out["side"] - size) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.10f}")
torch.save(model.state_dict(), "model.pt")
