"""A word-level LSTM language model, cross-entropy per token over view(-1, V), perplexity per epoch."""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SENTENCES = """the crew rows in the morning
the crew rests in the evening
one boat leads and the others follow
the sea is calm in the morning
the others rest and one boat rows
the evening sea is calm and grey""".split("\n")

words = sorted({w for s in SENTENCES for w in s.split()})
word2idx = {w: i for i, w in enumerate(words)}
V = len(words)
stream = torch.tensor([word2idx[w] for s in SENTENCES * 9 for w in s.split()])

seq_len = 6
n_seq = (len(stream) - 1) // seq_len
inputs = stream[: n_seq * seq_len].view(n_seq, seq_len)
targets = stream[1: n_seq * seq_len + 1].view(n_seq, seq_len)


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, batch_first=True)
        self.decoder = nn.Linear(nhid, ntoken)
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        nn.init.uniform_(self.encoder.weight, -initrange, initrange)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -initrange, initrange)

    def forward(self, tokens):
        output, _ = self.rnn(self.encoder(tokens))
        return self.decoder(output)


torch.manual_seed(1111)
model = RNNModel(V, 12, 24).double()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=10, shuffle=True)
print("vocabulary", V, "sequences", n_seq, "batches", len(loader))

for epoch in range(1, 4):
    model.train()
    total_loss, total_tokens = 0., 0
    for data, target in loader:
        model.zero_grad()
        output = model(data)
        loss = criterion(output.view(-1, V), target.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        total_loss += loss.item() * target.numel()
        total_tokens += target.numel()
    cur_loss = total_loss / total_tokens
    print('| epoch {:3d} | tokens {:4d} | loss {:.10f} | ppl {:.8f}'.format(
        epoch, total_tokens, cur_loss, math.exp(cur_loss)))
