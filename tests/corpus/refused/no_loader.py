# refused: there is no DataLoader and no batch: every step trains on all there is, and what its rows are is not seen
import torch
import torch.nn as nn

torch.manual_seed(3)
X = torch.randn(300, 8)
y = (X.sum(1) > 0).long()
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()

for epoch in range(3):
    optimizer.zero_grad()
    loss = criterion(model(X), y)
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
