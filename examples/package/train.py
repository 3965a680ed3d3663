"""A program of several modules: this one reads the options and calls the others.

    data.py      the dataset and its loaders
    model.py     the network
    engine.py    one epoch of training, one evaluation
    train.py     this file

In one process:      python examples/package/train.py --epochs 3
With two workers:    trainera run examples/package/train.py -n 2 -- --epochs 3
What would change:   trainera convert examples/package/train.py --diff
Is it the same:      trainera verify examples/package/train.py -n 2 -- --epochs 3
"""
import argparse
import copy

import torch
from data import make_loaders
from engine import evaluate, train_one_epoch
from model import SequenceClassifier


def get_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    loaders = make_loaders(args.batch_size)
    model = SequenceClassifier(classes=4, hidden=args.hidden).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    # One learning-rate cycle over all steps of all epochs.
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, epochs=args.epochs, steps_per_epoch=len(loaders["train"])
    )

    best_loss = float("inf")
    best_weights = copy.deepcopy(model.state_dict())
    for epoch in range(args.epochs):
        train_loss = train_one_epoch(model, loaders["train"], optimizer, scheduler, device, epoch)
        valid_loss, valid_accuracy = evaluate(model, loaders["valid"], device)
        print(
            f"epoch {epoch}: train loss {train_loss:.4f}, "
            f"valid loss {valid_loss:.4f}, valid accuracy {valid_accuracy:.3f}"
        )
        if valid_loss < best_loss:
            best_loss = valid_loss
            best_weights = copy.deepcopy(model.state_dict())

    model.load_state_dict(best_weights)
    _, test_accuracy = evaluate(model, loaders["test"], device)
    print(f"test accuracy {test_accuracy:.3f}")
    torch.save(best_weights, "sequence.pt")


if __name__ == "__main__":
    main(get_args())
