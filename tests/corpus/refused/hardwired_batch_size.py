# refused: the batch size is wired into the model (view(64, -1)), so it cannot take a slice of a batch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 36, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.view(64, -1)
        return self.fc(x)


torch.manual_seed(8)
images = torch.randn(256, 1, 8, 8)
labels = torch.randint(0, 10, (256,))
loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True, drop_last=True)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(2):
    running_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(epoch, running_loss / len(loader))
