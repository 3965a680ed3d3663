"""Film reviews with a small transformer: width 256, 4 layers, 8 heads, ff 1024, [CLS], 128 → 2.

python imdb_transformer.py --size tiny|small|full
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader
from workload_data import reviews

# training reviews, test reviews, epochs, words of a review, vocabulary, width, layers
SIZES = {
    "tiny": (512, 256, 2, 64, 2000, 64, 2),
    "small": (4000, 1000, 3, 128, 8000, 128, 4),
    "full": (25000, 25000, 5, 256, 20000, 256, 4),
}


class Reviewer(nn.Module):
    def __init__(self, vocabulary, length, width, layers):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width, padding_idx=0)
        self.place = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.classifier = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 2))

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token(tokens) + self.place(places)
        x = self.encoder(x, src_key_padding_mask=tokens == 0)
        return self.classifier(x[:, 0])


def train(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for tokens, labels in loader:
        tokens, labels = tokens.to(device), labels.to(device)
        loss = criterion(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(tokens)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct = 0
    for tokens, labels in loader:
        tokens, labels = tokens.to(device), labels.to(device)
        correct += (model(tokens).argmax(dim=1) == labels).sum().item()
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs, length, vocabulary, width, layers = SIZES[args.size]
    epochs = args.epochs or epochs

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train_set, test_set, origin = reviews(samples, held, length, vocabulary)
    print(f"data: {origin}")
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=128)

    model = Reviewer(vocabulary, length, width, layers).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, epochs + 1):
        loss = train(model, train_loader, criterion, optimizer, device)
        accuracy = evaluate(model, test_loader, device)
        print(f"epoch {epoch}: loss {loss:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
