"""Two optimizers for one loss, steps that are left out, gradients kept as 0, clipping."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
torch.set_default_dtype(torch.float64)
x = torch.randn(70, 6)
y = x[:, :2].sum(1, keepdim=True).sin()
loader = DataLoader(TensorDataset(x, y), batch_size=15, shuffle=True)

encoder = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 4))
head = nn.Sequential(nn.Tanh(), nn.Linear(4, 1))
for_encoder = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
for_head = torch.optim.Adam(head.parameters(), lr=0.02, weight_decay=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(for_head, 0.8)
criterion = nn.MSELoss()

for epoch in range(4):
    for step, (xb, yb) in enumerate(loader):
        loss = criterion(head(encoder(xb)), yb)
        loss.backward()
        if step % 3 == 1:
            continue  # the gradients of this batch are added to those of the next
        norm = nn.utils.clip_grad_norm_(head.parameters(), 0.5)
        for_encoder.step()
        for_head.step()
        for_encoder.zero_grad(set_to_none=False)
        for_head.zero_grad()
    scheduler.step()
    rates = [group["lr"] for group in for_encoder.param_groups]
    print(f"epoch {epoch}: norm {norm.item():.12f}, rates {rates}")
    print(" ".join(f"{p.sum().item():.12f}" for p in [*encoder.parameters(), *head.parameters()]))
torch.save({"head": for_head.state_dict(), "encoder": for_encoder.state_dict()}, "last.pt")
