"""Whole channels are dropped, beside batch normalisation; slices are ragged, one batch is tiny."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.bn = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 8, 3)
        self.drop = nn.Dropout2d(0.3)
        self.fc1 = nn.Linear(32, 16)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.bn(self.conv1(x)), 2))
        x = F.relu(self.drop(self.conv2(x)))
        x = x.flatten(1)
        x = F.dropout(F.relu(self.fc1(x)), training=self.training)
        return F.log_softmax(self.fc2(x), dim=1)


def main():
    torch.manual_seed(11)
    torch.set_default_dtype(torch.float64)
    images = torch.randn(83, 1, 10, 10)
    targets = (images.mean((1, 2, 3)) * 40).long() % 4
    loader = DataLoader(TensorDataset(images, targets), batch_size=10, shuffle=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(1, 4):
        model.train()
        for batch_idx, (data, target) in enumerate(loader):
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            if batch_idx % 4 == 0:
                print("Train Epoch: {} [{}/{}] Loss: {:.10f}".format(
                    epoch, batch_idx * len(data), len(loader.dataset), loss.item()))
    torch.save(model.state_dict(), "cnn.pt")


if __name__ == "__main__":
    main()
