"""A script without functions: one loop at module level, two loaders, StepLR per epoch."""
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

# hyperparameters
EPOCHS = 4
BATCH = 32
LR = 0.1

digits = load_digits()
X = torch.tensor(digits.data / 16.0)
y = torch.tensor(digits.target)
train_set = TensorDataset(X[:700], y[:700])
test_set = TensorDataset(X[700:1000], y[700:1000])
train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True)
test_loader = DataLoader(test_set, batch_size=100, shuffle=False)
print("train batches:", len(train_loader), "test batches:", len(test_loader))

model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=LR, momentum=0.9)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)

for epoch in range(EPOCHS):
    model.train()
    running_loss = 0.0
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    scheduler.step()

    # test
    model.eval()
    correct = 0
    total = 0
    with torch.no_grad():
        for inputs, labels in test_loader:
            outputs = model(inputs)
            _, predicted = torch.max(outputs.data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    print('Epoch %d: loss %.10f, lr %.4f, test accuracy %.4f %%' % (
        epoch + 1, running_loss / len(train_loader), scheduler.get_last_lr()[0], 100 * correct / total))

torch.save(model.state_dict(), "digits.pt")
print("Finished Training")
