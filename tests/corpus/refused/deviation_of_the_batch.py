# refused: a term of the loss needs the whole batch (a standard deviation over it)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
loader = DataLoader(TensorDataset(torch.randn(100,4), torch.randn(100,1)), batch_size=10)
model = nn.Linear(4,1)
opt = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    out = model(x)
    loss = nn.functional.mse_loss(out, y) + 0.1 * out.std()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
