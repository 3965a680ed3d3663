import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class D(Dataset):
    def __init__(self):
        self.x = torch.randn(22, 6); self.y = torch.randint(0, 4, (22,))
    def __len__(self): return 22
    def __getitem__(self, i): return {"x": self.x[i], "labels": self.y[i]}
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(6, 4)
    def forward(self, x): return self.fc(x)
loader = DataLoader(D(), batch_size=5)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    labels = batch.pop("labels")
    loss = F.cross_entropy(model(**batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
