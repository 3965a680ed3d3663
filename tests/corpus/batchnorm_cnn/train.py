"""A convolutional network with batch normalisation in float64; running loss printed every few steps."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data as data
from sklearn.datasets import load_digits

torch.set_default_dtype(torch.float64)
torch.manual_seed(2)


class ConvNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 12, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(12)
        self.fc = nn.Linear(12 * 2 * 2, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(torch.flatten(x, 1))


raw = load_digits()
images = torch.tensor(raw.images / 16.).unsqueeze(1)
targets = torch.tensor(raw.target)
train_data = data.TensorDataset(images[:420], targets[:420])
test_data = data.TensorDataset(images[420:600], targets[420:600])
trainloader = data.DataLoader(train_data, batch_size=20, shuffle=True)
testloader = data.DataLoader(test_data, batch_size=50, shuffle=False)

net = ConvNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)

for epoch in range(2):  # loop over the dataset multiple times
    net.train()
    running_loss = 0.0
    for i, batch in enumerate(trainloader, 0):
        inputs, labels = batch
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()

        # print statistics
        running_loss += loss.item()
        if i % 5 == 4:    # print every 5 mini-batches
            print(f'[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 5:.10f}')
            running_loss = 0.0

    net.eval()
    correct = 0
    total = 0
    with torch.no_grad():
        for batch in testloader:
            inputs, labels = batch
            outputs = net(inputs)
            correct += (outputs.argmax(1) == labels).sum().item()
            total += labels.size(0)
    print(f'Accuracy of the network on the {total} test images: {100 * correct / total:.2f} %')

torch.save(net.state_dict(), './cnn.pt')
