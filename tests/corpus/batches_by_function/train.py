"""A character model in one file, no DataLoader: get_batch() draws places, and is used to estimate the loss, too."""
import torch
import torch.nn as nn
from torch.nn import functional as F

# hyperparameters
batch_size = 11 # how many independent sequences
block_size = 8
max_iters = 14
eval_interval = 5
eval_iters = 3
n_embd = 16
device = 'cuda' if torch.cuda.is_available() else 'cpu'
# ------------

torch.manual_seed(1337)
torch.set_default_dtype(torch.float64)

text = " ".join(str(i * i) for i in range(300))
chars = sorted(set(text))
stoi = {ch: i for i, ch in enumerate(chars)}
itos = {i: ch for i, ch in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
n = int(0.9 * len(data))
train_data = data[:n]
val_data = data[n:]

def get_batch(split):
    # generate a small batch of inputs x and targets y
    data = train_data if split == 'train' else val_data
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i:i+block_size] for i in ix])
    y = torch.stack([data[i+1:i+block_size+1] for i in ix])
    x, y = x.to(device), y.to(device)
    return x, y

@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ['train', 'val']:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out

class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer('tril', torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * C**-0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float('-inf'))
        wei = F.softmax(wei, dim=-1)
        return wei @ self.value(x)

class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(len(chars), n_embd)
        self.positions = nn.Embedding(block_size, n_embd)
        self.heads = nn.ModuleList([Head(n_embd // 2) for _ in range(2)])
        self.out = nn.Linear(n_embd, len(chars))

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.tokens(idx) + self.positions(torch.arange(T, device=device))
        x = x + torch.cat([h(x) for h in self.heads], dim=-1)
        logits = self.out(x)
        if targets is None:
            loss = None
        else:
            B, T, C = logits.shape
            loss = F.cross_entropy(logits.view(B*T, C), targets.view(B*T))
        return logits, loss

    def generate(self, idx, max_new_tokens):
        for _ in range(max_new_tokens):
            logits, loss = self(idx[:, -block_size:])
            probs = F.softmax(logits[:, -1, :], dim=-1)
            idx = torch.cat((idx, torch.multinomial(probs, num_samples=1)), dim=1)
        return idx

model = LanguageModel()
m = model.to(device)
print(sum(p.numel() for p in m.parameters()) / 1e3, 'thousand parameters')
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

for iter in range(max_iters):

    # every once in a while evaluate the loss on train and val sets
    if iter % eval_interval == 0 or iter == max_iters - 1:
        losses = estimate_loss()
        print(f"step {iter}: train loss {losses['train']:.10f}, val loss {losses['val']:.10f}")

    xb, yb = get_batch('train')
    logits, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if iter % 4 == 0:
        print(f"iter {iter}: loss {loss.item():.10f}")

context = torch.zeros((1, 1), dtype=torch.long, device=device)
print(''.join(itos[i] for i in m.generate(context, max_new_tokens=30)[0].tolist()))
torch.save(model.state_dict(), 'model.pt')
