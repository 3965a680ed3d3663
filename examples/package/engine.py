"""One epoch of training and one evaluation."""
import torch
import torch.nn.functional as F


class AverageMeter:
    """The running mean of a number, each value with its weight."""

    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)


def train_one_epoch(model, loader, optimizer, scheduler, device, epoch, print_every=10):
    model.train()
    meter = AverageMeter()
    for step, (curves, labels) in enumerate(loader):
        curves, labels = curves.to(device), labels.to(device)
        loss = F.cross_entropy(model(curves), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        meter.update(loss.item(), curves.size(0))
        if (step + 1) % print_every == 0:
            print(f"  epoch {epoch} step {step + 1}/{len(loader)}: loss {meter.average:.4f}")
    return meter.average


@torch.inference_mode()
def evaluate(model, loader, device):
    """The mean loss and the accuracy."""
    model.eval()
    meter = AverageMeter()
    correct = 0
    for curves, labels in loader:
        curves, labels = curves.to(device), labels.to(device)
        scores = model(curves)
        meter.update(F.cross_entropy(scores, labels).item(), curves.size(0))
        correct += (scores.argmax(dim=1) == labels).sum().item()
    return meter.average, correct / len(loader.dataset)
