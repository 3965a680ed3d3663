"""A small convolutional network on generated images, for one process.

    python cnn.py --epochs 4 --batch-size 128 --samples 4096

A plain script as its user would write it: nothing here knows of workers, or that it is measured.
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 10


class Shapes(Dataset[tuple[torch.Tensor, int]]):
    """Noise over one pattern for each class, mirrored at random when used to train."""

    def __init__(self, samples: int, patterns: torch.Tensor, train: bool) -> None:
        self.labels = torch.randint(CLASSES, (samples,))
        self.images = patterns[self.labels] + torch.randn(samples, *patterns.shape[1:])
        self.train = train

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        image = self.images[index]
        if self.train and torch.rand(()) < 0.5:
            image = image.flip(-1)
        return image, int(self.labels[index])


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.dropout = nn.Dropout(0.2)
        self.fc1 = nn.Linear(64 * 4 * 4, 128)
        self.fc2 = nn.Linear(128, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)
        x = self.dropout(F.relu(self.fc1(x.flatten(1))))
        logits: torch.Tensor = self.fc2(x)
        return logits


def evaluate(model: nn.Module, loader: DataLoader[tuple[torch.Tensor, int]]) -> tuple[float, float]:
    model.eval()
    loss_sum = 0.0
    correct = 0
    total = 0
    with torch.no_grad():
        for images, labels in loader:
            outputs = model(images)
            loss_sum += F.cross_entropy(outputs, labels, reduction="sum").item()
            correct += (outputs.argmax(1) == labels).sum().item()
            total += labels.size(0)
    return loss_sum / total, correct / total


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small CNN on generated images.")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--samples", type=int, default=4096)
    args = parser.parse_args()

    torch.manual_seed(0)
    patterns = torch.randn(CLASSES, 3, 32, 32)
    train_set = Shapes(args.samples, patterns, train=True)
    test_set = Shapes(args.samples // 8, patterns, train=False)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=args.batch_size)

    model = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    for epoch in range(args.epochs):
        model.train()
        running_loss = 0.0
        correct = 0
        for images, labels in train_loader:
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * labels.size(0)
            correct += (outputs.argmax(1) == labels).sum().item()
        print(
            f"epoch {epoch + 1}: loss {running_loss / len(train_set):.4f}, "
            f"accuracy {correct / len(train_set):.4f}"
        )
        test_loss, test_accuracy = evaluate(model, test_loader)
        print(f"test loss {test_loss:.4f}, accuracy {test_accuracy:.4f}")


if __name__ == "__main__":
    main()
