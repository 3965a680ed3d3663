# refused: the loss comes from a library that the tool does not know; nothing says how it reduces over the batch
import torch
from pytorch_metric_learning import losses
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
x = torch.randn(256, 10)
y = torch.randint(0, 5, (256,))
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
loss_func = losses.TripletMarginLoss(margin=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(2):
    total = 0.0
    for data, labels in loader:
        optimizer.zero_grad()
        loss = loss_func(model(data), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, total / len(loader))
