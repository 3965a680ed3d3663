"""Fine-tuning: the backbone is frozen for some epochs, then freed layer by layer."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)

FREEZE_EPOCHS = 2


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 12), nn.ReLU()
        )
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def freeze_backbone(model):
    for p in model.backbone.parameters():
        p.requires_grad = False


def unfreeze(layer):
    for name, p in layer.named_parameters():
        p.requires_grad = True


def count(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


x = torch.randn(185, 10)
y = (x[:, :3] * 2).argmax(1)
train_set, val_set = random_split(TensorDataset(x, y), [150, 35])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
val_loader = DataLoader(val_set, batch_size=16)

model = Classifier()
freeze_backbone(model)
optimizer = torch.optim.SGD(
    filter(lambda p: p.requires_grad, model.parameters()), lr=0.1, momentum=0.9, weight_decay=0.01
)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    if epoch == FREEZE_EPOCHS:
        unfreeze(model.backbone[3])
        optimizer.add_param_group({'params': model.backbone[3].parameters(), 'lr': 0.05})
    if epoch == FREEZE_EPOCHS + 1:
        for p in model.backbone[:3].parameters():
            p.requires_grad_(True)
        optimizer.add_param_group({'params': model.backbone[:3].parameters(), 'lr': 0.02})
    model.train()
    total = 0.0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(inputs)
    model.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in val_loader:
            correct += (model(inputs).argmax(1) == targets).sum().item()
    print(f'epoch {epoch}: {count(model)} parameters learn, loss {total / len(train_set):.12f}, '
          f'accuracy {correct / len(val_set):.4f}')
torch.save(model.state_dict(), 'model.pth')
