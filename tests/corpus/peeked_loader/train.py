"""A second loader is never looped over: one batch of it is looked at after every step."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
dataset = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
loader = DataLoader(dataset, batch_size=7, shuffle=True)
samples = DataLoader(dataset, batch_size=6, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def look(step):
    model.eval()
    inputs, targets = next(iter(samples))
    for number in range(3):
        varied = inputs[number].repeat(2, 1)
        varied[1, 0] = 0.0
        outputs = model(varied)
        print(f"  {step}.{number}: {outputs[0].item():.10f} {outputs[1].item():.10f}")
    print(f"  of {len(targets)}: {(model(inputs) - targets).abs().max().item():.10f}")
    model.train()


for epoch in range(2):
    for step, (x, y) in enumerate(loader):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        look(step)
    print(f"epoch {epoch}: {loss.item():.10f}")
