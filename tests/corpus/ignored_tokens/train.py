"""Padded targets with ignore_index: the mean is over the tokens that count, which differ from slice to slice."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

PAD = -100
torch.manual_seed(36)
torch.set_default_dtype(torch.float64)

# copy task with sequences of different lengths
n, length, vocab = 130, 8, 6
tokens = torch.randint(0, vocab, (n, length))
lengths = torch.randint(2, length + 1, (n,))
targets = tokens.roll(1, dims=1)
targets[torch.arange(length)[None, :] >= lengths[:, None]] = PAD
loader = DataLoader(TensorDataset(tokens, targets), batch_size=16, shuffle=True)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocab, 10)
        self.rnn = nn.GRU(10, 20, batch_first=True)
        self.out = nn.Linear(20, vocab)

    def forward(self, t):
        h, _ = self.rnn(self.embed(t))
        return self.out(h)


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(3):
    total, counted, right = 0.0, 0, 0
    for t, target in loader:
        logits = model(t)
        loss = F.cross_entropy(logits.reshape(-1, vocab), target.reshape(-1), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mask = target != PAD
        total += loss.item() * mask.sum().item()
        counted += mask.sum().item()
        right += ((logits.argmax(-1) == target) & mask).sum().item()
    print(f"epoch {epoch}: loss {total / counted:.10f} accuracy {right / counted:.6f} of {counted} tokens")
