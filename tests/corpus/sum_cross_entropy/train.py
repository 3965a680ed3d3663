"""F.cross_entropy(reduction="sum") divided by the batch size by hand, in a function that takes everything."""
import argparse
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils import data as tud


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total_loss, total_correct, total = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for images, labels in loader:
            scores = model(images)
            summed = F.cross_entropy(scores, labels, reduction="sum")
            if training:
                loss = summed / images.size(0)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            total_loss += summed.item()
            total_correct += scores.max(1)[1].eq(labels).sum().item()
            total += labels.size(0)
    return total_loss / total, total_correct / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", default=32, type=int)
    ap.add_argument("--epochs", default=3, type=int)
    opt = ap.parse_args()

    torch.manual_seed(21)
    bunch = load_digits()
    x = torch.as_tensor(bunch.data, dtype=torch.float64) / 16
    t = torch.as_tensor(bunch.target)
    sets = {"train": tud.TensorDataset(x[:450], t[:450]), "val": tud.TensorDataset(x[450:600], t[450:600])}
    loaders = {k: tud.DataLoader(v, batch_size=opt.batch, shuffle=(k == "train")) for k, v in sets.items()}

    model = torch.nn.Linear(64, 10).double()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    for epoch in range(opt.epochs):
        tl, ta = run_epoch(model, loaders["train"], optimizer)
        vl, va = run_epoch(model, loaders["val"])
        print("%2d  train %.10f %.4f   val %.10f %.4f" % (epoch, tl, ta, vl, va))


if __name__ == "__main__":
    main()
