"""A progress bar written by hand, with times in words and as wide as the terminal; a time limit that does matter."""
import shutil
import sys
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

WIDTH = shutil.get_terminal_size((80, 24)).columns
LENGTH = 20
began = time.time()


def format_time(seconds):
    days = int(seconds / 3600 / 24)
    seconds = seconds - days * 3600 * 24
    minutes = int(seconds / 60)
    seconds = seconds - minutes * 60
    text = ""
    words = 1
    if days > 0:
        text += str(days) + "D"
        words += 1
    if minutes > 0 and words <= 2:
        text += str(minutes) + "m"
        words += 1
    if seconds > 0 and words <= 2:
        text += str(int(seconds)) + "s"
        words += 1
    if text == "":
        text = "0s"
    return text


def progress_bar(current, total, message=None):
    done = int(LENGTH * current / total)
    sys.stderr.write("[" + "=" * done + "." * (LENGTH - done) + "]")
    parts = []
    parts.append("  Total: %s" % format_time(time.time() - began))
    if message:
        parts.append(" | " + message)
    text = "".join(parts)
    sys.stderr.write(text)
    for _ in range(WIDTH - LENGTH - len(text) - 2):
        sys.stderr.write(" ")
    sys.stderr.write("\r" if current < total else "\n")


torch.manual_seed(2)
torch.set_default_dtype(torch.float64)
x = torch.randn(70, 4)
loader = DataLoader(TensorDataset(x, x[:, :1] * x[:, 1:2]), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    started = time.time()
    train_loss = 0
    for batch_idx, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        progress_bar(batch_idx + 1, len(loader), "Loss: %.3f" % (train_loss / (batch_idx + 1)))
    took = time.time() - started
    unit = "s" if took < 120 else "min"
    print(f"took {took if unit == 's' else took / 60:.1f} {unit}")
    if took > 60:
        print("took long")
    print(f"epoch {epoch}: {train_loss / len(loader):.10f}")
    if time.time() - began > 3600:
        break
torch.save(net.state_dict(), "model.pt")
