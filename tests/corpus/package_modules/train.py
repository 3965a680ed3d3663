"""A package of several modules with relative imports: data, model, engine and a thin entry script."""
import argparse

import torch

from classifier import build_model
from classifier.data import get_loaders
from classifier.engine import evaluate, train_one_epoch


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--width", type=int, default=40)
    return p.parse_args()


def main(args):
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    train_loader, test_loader = get_loaders(batch_size=20)
    model = build_model(args.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, train_loader, optimizer)
        stats = evaluate(model, test_loader)
        print(f"epoch={epoch} loss={loss:.10f} test_loss={stats['loss']:.10f} test_acc={stats['acc']:.4f}")
    torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main(parse_args())
