"""Dropout of every kind that a transformer has: of attention, fused or not, of heads and of tokens."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
torch.set_default_dtype(torch.float64)
VOCABULARY, LENGTH, WIDTH = 11, 7, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 2, dropout=0.2, batch_first=True)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        h = self.norm1(x)
        mixed, _ = self.attention(h, h, h)
        x = x + self.drop(mixed)
        b, t, c = x.size()
        q, k, v = self.qkv(self.norm2(x)).split(WIDTH, dim=2)
        q, k, v = (one.view(b, t, 2, c // 2).transpose(1, 2) for one in (q, k, v))
        y = F.scaled_dot_product_attention(
            q, k, v, dropout_p=0.2 if self.training else 0.0, is_causal=True
        )
        return x + y.transpose(1, 2).contiguous().view(b, t, c)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.block = Block()
        self.encoder = nn.TransformerEncoderLayer(WIDTH, 2, 16, dropout=0.2, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x):
        x = self.encoder(self.block(self.token(x)))
        x = F.dropout(x.reshape(-1, WIDTH), 0.1, self.training)  # every token for itself
        return self.head(x).view(-1, LENGTH, VOCABULARY)


tokens = torch.randint(0, VOCABULARY, (70, LENGTH + 1))
loader = DataLoader(TensorDataset(tokens[:, :-1], tokens[:, 1:]), batch_size=14, shuffle=True)
model = Transformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    total = 0.0
    for x, y in loader:
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, VOCABULARY), y.reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.12f}")
torch.save(model.state_dict(), "model.pt")
