"""Handwritten digits, a plain script: no functions, one loop, read from top to bottom.

In one process:      python examples/digits.py
With two workers:    trainera run examples/digits.py -n 2
What would change:   trainera convert examples/digits.py --diff
Is it the same:      trainera verify examples/digits.py -n 2
"""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

epochs = 8
batch_size = 64
learning_rate = 0.05

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# 1797 pictures of 8 x 8 pixels, grey values 0 to 16. The last 360 are for the test.
digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16
labels = torch.tensor(digits.target)
train_set = TensorDataset(images[:-360], labels[:-360])
test_set = TensorDataset(images[-360:], labels[-360:])

# 1437 is not a multiple of 64: the last batch of each epoch has 29 pictures.
train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=batch_size)

model = nn.Sequential(
    nn.Linear(64, 128),
    nn.ReLU(),
    nn.Linear(128, 64),
    nn.ReLU(),
    nn.Linear(64, 10),
).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)

print(f"{len(train_set)} pictures to learn from, {len(train_loader)} steps an epoch")

for epoch in range(epochs):
    # Learn.
    model.train()
    train_loss = 0.0
    train_correct = 0
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        scores = model(x)
        loss = criterion(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # The loss is the mean of the batch: weigh it with the size of the batch.
        train_loss += loss.item() * len(x)
        train_correct += (scores.argmax(dim=1) == y).sum().item()
    scheduler.step()
    train_loss /= len(train_set)
    train_accuracy = train_correct / len(train_set)

    # Test.
    model.eval()
    test_correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            x, y = x.to(device), y.to(device)
            test_correct += (model(x).argmax(dim=1) == y).sum().item()
    test_accuracy = test_correct / len(test_set)

    print(
        f"epoch {epoch + 1}: loss {train_loss:.4f}, "
        f"train accuracy {train_accuracy:.3f}, test accuracy {test_accuracy:.3f}"
    )

torch.save(model.state_dict(), "digits.pt")
