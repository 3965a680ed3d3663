"""A nanoGPT-like model whose forward returns (logits, loss); ragged last batch; loss estimated on two splits."""
import math
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader

# -----------------------------------------------------------------------------
batch_size = 14
block_size = 12
n_embd, n_head, n_layer = 16, 2, 1
learning_rate = 1e-2
max_epochs = 2
# -----------------------------------------------------------------------------
torch.manual_seed(1337)
torch.set_default_dtype(torch.float64)

text = " ".join(str(i * i) for i in range(260))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])

class CharDataset(Dataset):
    def __init__(self, data):
        self.data = data
    def __len__(self):
        return (len(self.data) - 1) // block_size
    def __getitem__(self, i):
        chunk = self.data[i * block_size: (i + 1) * block_size + 1]
        return chunk[:-1], chunk[1:]

class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(n_embd, dim=2)
        q, k, v = (t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float('-inf'))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

class GPT(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList([Block() for _ in range(n_layer)])
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight  # weight tying

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(x)
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

n = int(0.9 * len(data))
train_loader = DataLoader(CharDataset(data[:n]), batch_size=batch_size, shuffle=True)
val_loader = DataLoader(CharDataset(data[n:]), batch_size=batch_size)
model = GPT(len(chars))
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95))

@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split, loader in (('train', train_loader), ('val', val_loader)):
        losses = torch.zeros(len(loader))
        for k, (X, Y) in enumerate(loader):
            logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out

iter_num = 0
for epoch in range(max_epochs):
    for X, Y in train_loader:
        logits, loss = model(X, Y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if iter_num % 4 == 0:
            print(f"iter {iter_num}: loss {loss.item():.10f}")
        iter_num += 1
    losses = estimate_loss()
    print(f"epoch {epoch}: train loss {losses['train']:.10f}, val loss {losses['val']:.10f}")
torch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'iter_num': iter_num}, 'ckpt.pt')
