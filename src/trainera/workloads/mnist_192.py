"""MNIST with one hidden layer: 784-192-10, sigmoid and softmax, batches of 50.

python mnist_192.py --size tiny|small|full
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader
from workload_data import grey_digits

SIZES = {"tiny": (2000, 500, 8), "small": (20000, 5000, 8), "full": (60000, 10000, 8)}


def train(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        correct += (model(images).argmax(dim=1) == labels).sum().item()
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs = SIZES[args.size]
    epochs = args.epochs or epochs

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train_set, test_set, origin = grey_digits(["mnist", "MNIST/raw"], samples, held)
    print(f"data: {origin}")
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=500)

    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 192), nn.Sigmoid(), nn.Linear(192, 10)
    ).to(device)
    criterion = nn.CrossEntropyLoss()  # with the softmax in it
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(1, epochs + 1):
        loss = train(model, train_loader, criterion, optimizer, device)
        accuracy = evaluate(model, test_loader, device)
        print(f"epoch {epoch}: loss {loss:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
