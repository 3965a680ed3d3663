"""clip_grad_norm_ whose returned norm is printed and averaged; two parameter groups for weight decay."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
torch.set_default_dtype(torch.float64)

X = torch.randn(175, 9) * 2
T = (X[:, 0] * X[:, 1] - X[:, 2]).unsqueeze(1)
loader = DataLoader(TensorDataset(X, T), batch_size=18, shuffle=True)

model = nn.Sequential(nn.Linear(9, 40), nn.LayerNorm(40), nn.ReLU(), nn.Linear(40, 1))

# no decay for biases and norms
decay, no_decay = [], []
for name, param in model.named_parameters():
    if name.endswith("bias") or param.ndim == 1:
        no_decay.append(param)
    else:
        decay.append(param)
optimizer = torch.optim.AdamW([
    {"params": decay, "weight_decay": 0.05},
    {"params": no_decay, "weight_decay": 0.0},
], lr=0.01)
print("decayed", len(decay), "not decayed", len(no_decay))

for epoch in range(3):
    norm_sum, clipped = 0.0, 0
    for step, (x, t) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), t)
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=9.0)
        optimizer.step()
        norm_sum += grad_norm.item()
        if grad_norm > 9.0:
            clipped += 1
        if step % 5 == 0:
            print(f"  step {step}: loss {loss.item():.10f} grad norm {grad_norm.item():.10f}")
    print(f"epoch {epoch}: mean grad norm {norm_sum / len(loader):.10f}, clipped {clipped}/{len(loader)}")
