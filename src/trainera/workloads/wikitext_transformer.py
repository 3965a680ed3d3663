"""WikiText with a medium transformer language model: width 512, 8 layers, 8 heads, ff 2048.

python wikitext_transformer.py --size tiny|small|full
"""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader
from workload_data import running_text

# training pieces, test pieces, epochs, words of a piece, vocabulary, width, layers
SIZES = {
    "tiny": (256, 64, 2, 32, 1000, 64, 2),
    "small": (3000, 500, 3, 64, 8000, 256, 4),
    "full": (16000, 2000, 10, 128, 30000, 512, 8),
}


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, length, width, layers):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.place = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        length = tokens.shape[1]
        places = torch.arange(length, device=tokens.device)
        later = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        x = self.encoder(self.token(tokens) + self.place(places), mask=later, is_causal=True)
        return self.head(x).transpose(1, 2)


def train(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for tokens, targets in loader:
        tokens, targets = tokens.to(device), targets.to(device)
        loss = criterion(model(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(tokens)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, criterion, device):
    model.eval()
    total = 0.0
    for tokens, targets in loader:
        tokens, targets = tokens.to(device), targets.to(device)
        total += criterion(model(tokens), targets).item() * len(tokens)
    return math.exp(total / len(loader.dataset))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs, length, vocabulary, width, layers = SIZES[args.size]
    epochs = args.epochs or epochs

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train_set, test_set, origin = running_text(samples, held, length, vocabulary)
    print(f"data: {origin}")
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=64)

    model = LanguageModel(vocabulary, length, width, layers).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, epochs + 1):
        loss = train(model, train_loader, criterion, optimizer, device)
        perplexity = evaluate(model, test_loader, criterion, device)
        print(f"epoch {epoch}: loss {loss:.4f}, perplexity {perplexity:.2f}")


if __name__ == "__main__":
    main()
