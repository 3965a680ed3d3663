"""One dataset, two SubsetRandomSamplers for train and validation, early stopping on a deep-copied state."""
import copy

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.sampler import SubsetRandomSampler

np.random.seed(42)
torch.manual_seed(42)

digits = load_digits()
dataset = TensorDataset(torch.DoubleTensor(digits.data[:600]) / 16, torch.LongTensor(digits.target[:600]))

# split the indices
valid_size = 0.25
num_train = len(dataset)
indices = list(range(num_train))
np.random.shuffle(indices)
split = int(np.floor(valid_size * num_train))
train_idx, valid_idx = indices[split:], indices[:split]

train_loader = DataLoader(dataset, batch_size=32, sampler=SubsetRandomSampler(train_idx))
valid_loader = DataLoader(dataset, batch_size=32, sampler=SubsetRandomSampler(valid_idx))


class MLP(nn.Module):
    def __init__(self):
        super(MLP, self).__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.layers(x)


model = MLP().double()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

valid_loss_min = np.inf
best_state = copy.deepcopy(model.state_dict())
patience, wait = 2, 0

for epoch in range(12):
    train_loss = 0.0
    valid_loss = 0.0

    model.train()
    for data, target in train_loader:
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * data.size(0)

    model.eval()
    with torch.no_grad():
        for data, target in valid_loader:
            output = model(data)
            loss = criterion(output, target)
            valid_loss += loss.item() * data.size(0)

    train_loss = train_loss / len(train_loader.sampler)
    valid_loss = valid_loss / len(valid_loader.sampler)
    print('Epoch: {} \tTraining Loss: {:.10f} \tValidation Loss: {:.10f}'.format(epoch + 1, train_loss, valid_loss))

    if valid_loss <= valid_loss_min:
        print('Validation loss decreased ({:.6f} --> {:.6f})'.format(valid_loss_min, valid_loss))
        best_state = copy.deepcopy(model.state_dict())
        valid_loss_min = valid_loss
        wait = 0
    else:
        wait += 1
        if wait >= patience:
            print('Stopping early after epoch', epoch + 1)
            break

model.load_state_dict(best_state)
torch.save(model.state_dict(), 'best_model.pt')
