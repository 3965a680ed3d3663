"""ReduceLROnPlateau on the validation loss; learning rate printed from the param groups."""
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def get_data(n, noise):
    x = torch.rand(n, 2, dtype=torch.float64) * 4 - 2
    y = torch.sin(x[:, :1]) * torch.cos(x[:, 1:]) + noise * torch.randn(n, 1, dtype=torch.float64)
    return x, y


def validation_loss(net, loader, loss_fn):
    net.eval()
    val_losses = []
    with torch.no_grad():
        for x, y in loader:
            val_losses.append(loss_fn(net(x), y).item())
    return sum(val_losses) / len(val_losses)


if __name__ == '__main__':
    torch.manual_seed(77)
    train_loader = DataLoader(TensorDataset(*get_data(160, 0.3)), batch_size=20, shuffle=True)
    val_loader = DataLoader(TensorDataset(*get_data(75, 0.3)), batch_size=20)

    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)).double()
    loss_fn = nn.MSELoss()
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode='min', factor=0.3, patience=0)

    for epoch in range(10):
        net.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            output = net(x)
            loss = loss_fn(output, y)
            loss.backward()
            optimizer.step()
        val_loss = validation_loss(net, val_loader, loss_fn)
        scheduler.step(val_loss)
        print('epoch', epoch, 'val_loss', val_loss, 'lr', optimizer.param_groups[0]['lr'])
