"""Resume: the second run finds the checkpoint (model, optimizer, scheduler, epoch) and trains on."""
import argparse
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CKPT = "last.ckpt"


def save_checkpoint(epoch, model, optimizer, scheduler, best):
    torch.save({
        'epoch': epoch,
        'model_state_dict': model.state_dict(),
        'optimizer_state_dict': optimizer.state_dict(),
        'scheduler_state_dict': scheduler.state_dict(),
        'best': best,
    }, CKPT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=3, help='epochs of this run')
    args = parser.parse_args()

    torch.manual_seed(31)
    torch.set_default_dtype(torch.double)
    x = torch.randn(190, 7)
    y = torch.tanh(x @ torch.randn(7, 3)).argmax(1)
    train_loader = DataLoader(TensorDataset(x[:140], y[:140]), batch_size=22, shuffle=True)
    val_loader = DataLoader(TensorDataset(x[140:], y[140:]), batch_size=22)

    model = nn.Sequential(nn.Linear(7, 20), nn.ReLU(), nn.Linear(20, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    criterion = nn.CrossEntropyLoss()

    start_epoch, best = 0, 0.0
    if os.path.exists(CKPT):
        checkpoint = torch.load(CKPT)
        model.load_state_dict(checkpoint['model_state_dict'])
        optimizer.load_state_dict(checkpoint['optimizer_state_dict'])
        scheduler.load_state_dict(checkpoint['scheduler_state_dict'])
        start_epoch = checkpoint['epoch'] + 1
        best = checkpoint['best']
        print("=> loaded checkpoint '{}' (epoch {})".format(CKPT, checkpoint['epoch']))
    else:
        print("=> no checkpoint found, starting from scratch")

    for epoch in range(start_epoch, start_epoch + args.epochs):
        model.train()
        total = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * xb.size(0)
        lr = scheduler.get_last_lr()[0]
        scheduler.step()

        model.eval()
        right = 0
        with torch.no_grad():
            for xb, yb in val_loader:
                right += (model(xb).argmax(1) == yb).sum().item()
        acc = right / len(val_loader.dataset)
        best = max(acc, best)
        print("epoch {}: lr {:.6f} loss {:.10f} acc {:.4f} best {:.4f}".format(
            epoch, lr, total / len(train_loader.dataset), acc, best))
        save_checkpoint(epoch, model, optimizer, scheduler, best)


if __name__ == '__main__':
    main()
