"""OneCycleLR stepped after every batch with steps_per_epoch=len(loader); model access by attribute."""
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
torch.set_default_dtype(torch.float64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(12, 30)
        self.fc = nn.Linear(30, 5)

    def forward(self, x):
        return self.fc(torch.relu(self.body(x)))


centers = torch.randn(5, 12)
labels = torch.arange(230) % 5
points = centers[labels] + 0.9 * torch.randn(230, 12)

loader = DataLoader(TensorDataset(points, labels), batch_size=32, shuffle=True)
model = Net()
num_epochs = 3
optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
scheduler = OneCycleLR(optimizer, max_lr=0.3, steps_per_epoch=len(loader), epochs=num_epochs)
loss_func = nn.CrossEntropyLoss()

step = 0
for epoch in range(num_epochs):
    for batch_x, batch_y in loader:
        loss = loss_func(model(batch_x), batch_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        step += 1
        if step % 4 == 0:
            print(f"step {step:3d} lr {scheduler.get_last_lr()[0]:.8f} loss {loss.item():.10f}")
    print("epoch", epoch, "norm of fc", model.fc.weight.norm().item(), "steps", step)

torch.save(model.state_dict(), "one_cycle.pt")
