"""A small transformer learns to spell: it predicts the next character of a rower's song.

In one process:      python examples/language_model.py
With two workers:    trainera run examples/language_model.py -n 2
What would change:   trainera convert examples/language_model.py --diff
Is it the same:      trainera verify examples/language_model.py -n 2

The last batch of an epoch is smaller than the others. Its loss must not count as much as that
of a full batch when it is shared among workers: this is where conversions by hand go wrong.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

TEXT = """
Thirteen at the oars and one to steer, the boat is long, the boat is light,
the sea is grey, the coast is near, we row by day, we row by night.
One stroke for the harbour, one stroke for the hill, one stroke for the ones who are waiting still.
Nobody rows alone in here, nobody rows ahead,
the wave will find the crooked oar, the old hands said.
Lift together, fall together, breathe together, pull, whatever the wind and whatever the weather,
the boat is never dull. Thirteen backs and a single beat, thirteen hearts and a drum,
the one who is fast must wait for the rest, and so together they come.
Turn at the buoy and mind the swell, the second half is the longer one,
and nobody counts the strokes aloud until the last is done.
"""

BLOCK = 32  # characters that the model looks back
BATCH = 24
EPOCHS = 4


class Characters(Dataset):
    """Overlapping pieces of a text; the target is the same piece, one character on."""

    def __init__(self, text, vocabulary, stride):
        codes = {character: code for code, character in enumerate(vocabulary)}
        self.tokens = torch.tensor([codes[character] for character in text])
        self.starts = range(0, len(self.tokens) - BLOCK - 1, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index):
        start = self.starts[index]
        piece = self.tokens[start : start + BLOCK + 1]
        return piece[:-1], piece[1:]


class Block(nn.Module):
    """Attention to what came before, then a small network at each place."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (
            part.view(batch, time, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(width, dim=2)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).reshape(batch, time, width))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, characters, width=32, heads=4, layers=2):
        super().__init__()
        self.token = nn.Embedding(characters, width)
        self.place = nn.Embedding(BLOCK, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, characters)

    def forward(self, tokens, targets=None):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.blocks(self.token(tokens) + self.place(places))
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss


@torch.no_grad()
def perplexity(model, loader, device):
    """Among how many characters the model hesitates, on average."""
    model.eval()
    total, pieces = 0.0, 0
    for tokens, targets in loader:
        _, loss = model(tokens.to(device), targets.to(device))
        total += loss.item() * len(tokens)
        pieces += len(tokens)
    return math.exp(total / pieces)


def main():
    torch.manual_seed(1337)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    vocabulary = sorted(set(TEXT))
    border = int(0.85 * len(TEXT))
    train_set = Characters(TEXT[:border], vocabulary, stride=2)
    valid_set = Characters(TEXT[border:], vocabulary, stride=4)
    train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=BATCH)

    model = LanguageModel(len(vocabulary)).to(device)
    # Weight decay is for matrices; biases and norms go without.
    decay = [p for p in model.parameters() if p.dim() >= 2]
    no_decay = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=4e-3
    )

    size = sum(p.numel() for p in model.parameters())
    print(f"{size} parameters, {len(train_set)} pieces of text, {len(train_loader)} steps an epoch")

    for epoch in range(1, EPOCHS + 1):
        model.train()
        total = 0.0
        for tokens, targets in train_loader:
            tokens, targets = tokens.to(device), targets.to(device)
            logits, loss = model(tokens, targets)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(tokens)
        train_loss = total / len(train_set)
        valid = perplexity(model, valid_loader, device)
        print(f"epoch {epoch}: train loss {train_loss:.3f}, perplexity {valid:.2f}")

    torch.save(model.state_dict(), "language_model.pt")


if __name__ == "__main__":
    main()
