# refused: there is no DataLoader; batches are sliced out of tensors by hand with a permutation
import torch
import torch.nn as nn

torch.manual_seed(3)
X = torch.randn(300, 8)
y = (X.sum(1) > 0).long()
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
batch_size = 32

for epoch in range(3):
    permutation = torch.randperm(X.size(0))
    for i in range(0, X.size(0), batch_size):
        indices = permutation[i:i + batch_size]
        batch_x, batch_y = X[indices], y[indices]
        optimizer.zero_grad()
        loss = criterion(model(batch_x), batch_y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
