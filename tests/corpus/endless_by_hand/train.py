"""`while True` until a number of iterations; np.memmap-like data; the learning rate is set by hand; best loss is saved."""
import math
import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
np.random.seed(21)
torch.set_default_dtype(torch.float64)
block_size, batch_size = 6, 10
tokens = (np.arange(700) ** 2 % 23).astype(np.uint16)
val_tokens = (np.arange(700, 900) ** 2 % 23).astype(np.uint16)


class Data:
    def __init__(self, tokens):
        self.tokens = tokens

    def sample(self, n):
        starts = np.random.randint(0, len(self.tokens) - block_size - 1, size=(n,))
        x = np.stack([self.tokens[s:s + block_size] for s in starts]).astype(np.int64)
        y = np.stack([self.tokens[s + 1:s + 1 + block_size] for s in starts]).astype(np.int64)
        return {"x": torch.from_numpy(x), "y": torch.from_numpy(y)}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(23, 12)
        self.rnn = nn.GRU(12, 12, batch_first=True)
        self.out = nn.Linear(12, 23)

    def forward(self, x):
        h, _ = self.rnn(self.embed(x))
        return self.out(h)


def get_lr(it, warmup=4, total=18):
    if it < warmup:
        return 0.02 * (it + 1) / warmup
    return 0.01 * (1 + math.cos(math.pi * (it - warmup) / (total - warmup)))


def loss_of(model, batch):
    logits = model(batch["x"])
    return nn.functional.cross_entropy(logits.reshape(-1, 23), batch["y"].reshape(-1))


def main():
    train, val = Data(tokens), Data(val_tokens)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    iter_num, best_val_loss, running = 0, 1e9, None
    while True:
        for param_group in optimizer.param_groups:
            param_group["lr"] = get_lr(iter_num)
        if iter_num % 6 == 0:
            model.eval()
            with torch.no_grad():
                val_loss = np.mean([loss_of(model, val.sample(5)).item() for _ in range(3)])
            model.train()
            print(f"step {iter_num}: val loss {val_loss:.10f}")
            if val_loss < best_val_loss:
                best_val_loss = val_loss
                torch.save({"model": model.state_dict(), "iter": iter_num}, "model.pt")
        batch = train.sample(batch_size)
        loss = loss_of(model, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        lossf = loss.item()
        running = lossf if running is None else 0.9 * running + 0.1 * lossf
        if iter_num % 5 == 0:
            print(f"iter {iter_num}: loss {lossf:.10f}, running {running:.10f}")
        iter_num += 1
        if iter_num > 18:
            break
    print("next", np.random.randint(1000), f"best {best_val_loss:.10f}")


if __name__ == "__main__":
    main()
