"""Transfer learning: a body trained first, then frozen (requires_grad=False) and a new head fitted to it."""
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(40)
torch.set_default_dtype(torch.float64)

x = torch.randn(260, 8)
coarse = (x[:, 0] > 0).long()
fine = coarse * 2 + (x[:, 1] > 0).long()


class Net(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        return self.fc(self.body(x))


def fit(model, loader, optimizer, epochs, name):
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        running_loss = 0.0
        running_corrects = 0
        for inputs, labels in loader:
            optimizer.zero_grad()
            outputs = model(inputs)
            _, preds = torch.max(outputs, 1)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * inputs.size(0)
            running_corrects += torch.sum(preds == labels.data)
        epoch_loss = running_loss / len(loader.dataset)
        epoch_acc = running_corrects.double() / len(loader.dataset)
        print('{} Loss: {:.10f} Acc: {:.4f}'.format(name, epoch_loss, epoch_acc))


# step 1: the easy task
pretrain_loader = DataLoader(TensorDataset(x, coarse), batch_size=40, shuffle=True)
base = Net(2)
fit(base, pretrain_loader, optim.Adam(base.parameters(), lr=0.01), 2, 'pretrain')

# step 2: freeze the body, replace the head
model = Net(4)
model.body.load_state_dict(base.body.state_dict())
for param in model.body.parameters():
    param.requires_grad = False
trainable = [p for p in model.parameters() if p.requires_grad]
print('trainable parameters', sum(p.numel() for p in trainable), 'of', sum(p.numel() for p in model.parameters()))
finetune_loader = DataLoader(TensorDataset(x, fine), batch_size=40, shuffle=True)
fit(model, finetune_loader, optim.SGD(trainable, lr=0.1, momentum=0.9), 2, 'finetune')
torch.save(model.state_dict(), 'finetuned.pt')
