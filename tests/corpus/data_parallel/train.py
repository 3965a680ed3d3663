"""A sequential script that wraps its model in nn.DataParallel and saves model.module."""
import torch
import torch.nn as nn
import torch.backends.cudnn as cudnn
from torch.utils.data import DataLoader, TensorDataset

device = 'cuda' if torch.cuda.is_available() else 'cpu'
best_acc = 0  # best test accuracy

torch.manual_seed(64)
data = torch.randn(300, 1, 8, 8, dtype=torch.float64)
target = (data[:, 0, :4].mean((1, 2)) > data[:, 0, 4:].mean((1, 2))).long()
trainloader = DataLoader(TensorDataset(data[:220], target[:220]), batch_size=40, shuffle=True, num_workers=0)
testloader = DataLoader(TensorDataset(data[220:], target[220:]), batch_size=40, shuffle=False, num_workers=0)

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2)).double()
net = net.to(device)
net = nn.DataParallel(net)
if device == 'cuda':
    cudnn.benchmark = True

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)


def train(epoch):
    print('\nEpoch: %d' % epoch)
    net.train()
    train_loss = 0
    correct = 0
    total = 0
    for batch_idx, (inputs, targets) in enumerate(trainloader):
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()

        train_loss += loss.item()
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()
    print('Loss: %.10f | Acc: %.3f%% (%d/%d)' % (train_loss/(batch_idx+1), 100.*correct/total, correct, total))


def test(epoch):
    global best_acc
    net.eval()
    test_loss = 0
    correct = 0
    total = 0
    with torch.no_grad():
        for batch_idx, (inputs, targets) in enumerate(testloader):
            inputs, targets = inputs.to(device), targets.to(device)
            outputs = net(inputs)
            loss = criterion(outputs, targets)

            test_loss += loss.item()
            _, predicted = outputs.max(1)
            total += targets.size(0)
            correct += predicted.eq(targets).sum().item()

    # Save checkpoint.
    acc = 100.*correct/total
    print('Test loss: %.10f | Acc: %.3f%%' % (test_loss/(batch_idx+1), acc))
    if acc > best_acc:
        print('Saving..')
        state = {'net': net.module.state_dict(), 'acc': acc, 'epoch': epoch}
        torch.save(state, './dp.pt')
        best_acc = acc


for epoch in range(0, 4):
    train(epoch)
    test(epoch)
    scheduler.step()
