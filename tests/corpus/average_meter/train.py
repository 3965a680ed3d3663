"""AverageMeter objects as in the ImageNet example, with top-1 and top-3 accuracy and tqdm.set_postfix."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm


class AverageMeter(object):
    """Computes and stores the average and current value"""
    def __init__(self, name, fmt=':f'):
        self.name = name
        self.fmt = fmt
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        fmtstr = '{name} {avg' + self.fmt + '}'
        return fmtstr.format(**self.__dict__)


def accuracy(output, target, topk=(1,)):
    """Computes the accuracy over the k top predictions for the specified values of k"""
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).double().sum(0)
            res.append(correct_k.mul_(100.0 / batch_size))
        return res


def train(loader, model, criterion, optimizer, epoch):
    losses = AverageMeter('Loss', ':.10f')
    top1 = AverageMeter('Acc@1', ':6.3f')
    top3 = AverageMeter('Acc@3', ':6.3f')
    model.train()
    bar = tqdm(loader, desc=f'epoch {epoch}')
    for images, target in bar:
        output = model(images)
        loss = criterion(output, target)
        acc1, acc3 = accuracy(output, target, topk=(1, 3))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1.item(), images.size(0))
        top3.update(acc3.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=losses.avg, acc=top1.avg)
    print(f'train {epoch}: {losses} {top1} {top3}')


def validate(loader, model, criterion):
    losses = AverageMeter('Loss', ':.10f')
    top1 = AverageMeter('Acc@1', ':6.3f')
    model.eval()
    with torch.no_grad():
        for images, target in tqdm(loader, leave=False):
            output = model(images)
            losses.update(criterion(output, target).item(), images.size(0))
            top1.update(accuracy(output, target)[0].item(), images.size(0))
    print(f' * {losses} {top1}')
    return top1.avg


def main():
    torch.manual_seed(15)
    centers = torch.randn(8, 10, dtype=torch.float64)
    y = torch.randint(8, (310,))
    x = centers[y] + torch.randn(310, 10, dtype=torch.float64)
    train_loader = DataLoader(TensorDataset(x[:210], y[:210]), batch_size=32, shuffle=True)
    val_loader = DataLoader(TensorDataset(x[210:], y[210:]), batch_size=32)
    model = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 8)).double()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    best = 0
    for epoch in range(3):
        train(train_loader, model, criterion, optimizer, epoch)
        best = max(best, validate(val_loader, model, criterion))
    print('best', best)


if __name__ == '__main__':
    main()
