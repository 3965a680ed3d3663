"""float32: running loss and accuracy printed every k steps and reset, as in the classic tutorial."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch.utils.data

torch.manual_seed(6)


class StripesDataset(torch.utils.data.Dataset):
    """8x8 images with horizontal, vertical or diagonal stripes"""
    def __init__(self, n):
        self.n = n
        self.noise = torch.randn(n, 1, 8, 8)
        self.shift = torch.randint(0, 4, (n,))

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        label = idx % 3
        i, j = torch.meshgrid(torch.arange(8), torch.arange(8), indexing='ij')
        grid = (i, j, i + j)[label] + self.shift[idx]
        image = ((grid // 2) % 2).float().unsqueeze(0)
        return image + 0.6 * self.noise[idx], label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(6 * 3 * 3, 20)
        self.fc2 = nn.Linear(20, 3)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = torch.flatten(x, 1) # flatten all dimensions except batch
        x = F.relu(self.fc1(x))
        return self.fc2(x)


trainset = StripesDataset(250)
trainloader = torch.utils.data.DataLoader(trainset, batch_size=12, shuffle=True)

net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
PRINT_EVERY = 7

for epoch in range(2):
    running_loss, running_correct, running_total = 0.0, 0, 0
    for i, data in enumerate(trainloader, 1):
        inputs, labels = data
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()

        running_loss += loss.item()
        running_correct += (outputs.argmax(1) == labels).sum().item()
        running_total += labels.size(0)
        if i % PRINT_EVERY == 0:
            print("[%d, %5d] loss: %.4f acc: %.3f" % (
                epoch + 1, i, running_loss / PRINT_EVERY, running_correct / running_total))
            running_loss, running_correct, running_total = 0.0, 0, 0

print('Finished Training')
PATH = './net.pth'
torch.save(net.state_dict(), PATH)
