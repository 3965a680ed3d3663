"""Validation inside the training loop every k steps; the best state is kept; ends at a step limit."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(23)


def spiral(n, turns=1.5):
    t = torch.rand(n, dtype=torch.float64)
    label = torch.randint(0, 2, (n,))
    angle = turns * 6.283185307 * t + 3.141592653 * label
    r = t + 0.1
    return torch.stack([r * angle.cos(), r * angle.sin()], 1), label


train_loader = DataLoader(TensorDataset(*spiral(200)), batch_size=25, shuffle=True)
val_loader = DataLoader(TensorDataset(*spiral(100)), batch_size=30)

model = nn.Sequential(nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 2)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

MAX_STEPS = 36
VAL_EVERY = 6


def evaluate(model, loader):
    was_training = model.training
    model.eval()
    loss_sum, correct, n = 0.0, 0, 0
    with torch.inference_mode():
        for x, y in loader:
            out = model(x)
            loss_sum += criterion(out, y).item() * x.size(0)
            correct += (out.argmax(-1) == y).sum().item()
            n += x.size(0)
    model.train(was_training)
    return loss_sum / n, correct / n


global_step = 0
best = float('inf')
done = False
train_loss = 0.0
model.train()
while not done:
    for x, y in train_loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        global_step += 1

        if global_step % VAL_EVERY == 0:
            val_loss, val_acc = evaluate(model, val_loader)
            print(f'step {global_step}: train {train_loss / VAL_EVERY:.10f} val {val_loss:.10f} acc {val_acc:.3f}')
            train_loss = 0.0
            if val_loss < best:
                best = val_loss
                torch.save(model.state_dict(), 'best.pt')
        if global_step >= MAX_STEPS:
            done = True
            break

model.load_state_dict(torch.load('best.pt'))
print('best', best, 'again', evaluate(model, val_loader)[0])
