"""An encoder and its heads are called apart from the network that holds them, and trained in turns."""
import argparse

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split


class Network(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(7, width), nn.BatchNorm1d(width), nn.ReLU())
        self.decoder = nn.Linear(width, 7)
        self.classifier = nn.Linear(width, 2)
        self.temperature = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.classifier(self.encoder(x))


def train(model, loader, reconstruct, classify):
    model.train()
    sums = [0.0, 0.0]
    for x, y in loader:
        # first the encoder learns to keep what it is given ...
        reconstruct.zero_grad()
        loss = nn.functional.mse_loss(model.decoder(model.encoder(x)), x)
        loss.backward()
        reconstruct.step()
        sums[0] += loss.item() * x.shape[0]
        # ... then the classifier learns from what it gives
        classify.zero_grad()
        with torch.no_grad():
            code = model.encoder(x)
        loss = nn.functional.cross_entropy(model.classifier(code) * model.temperature, y)
        loss.backward()
        classify.step()
        sums[1] += loss.item() * x.shape[0]
    return [s / len(loader.dataset) for s in sums]


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    x = torch.randn(190, 7)
    train_set, test_set = random_split(TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long()), [150, 40])
    model = Network(20)
    reconstruct = optim.Adam([*model.encoder.parameters(), *model.decoder.parameters()], lr=0.01)
    classify = optim.SGD([*model.classifier.parameters(), model.temperature], lr=0.5, momentum=0.8)
    train_loader = DataLoader(train_set, batch_size=20, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=13)
    for epoch in range(args.epochs):
        first, second = train(model, train_loader, reconstruct, classify)
        print(f"{epoch}: {first:.10f} {second:.10f} {accuracy(model, test_loader):.4f} {model.temperature.item():.10f}")
    torch.save(model.state_dict(), "network.pt")


if __name__ == "__main__":
    main()
