"""Data and loader are made while this module is imported."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
print("making the data")
X = torch.randn(90, 6)
Y = (X.sum(1, keepdim=True) + 0.1 * torch.randn(90, 1))
order = torch.randperm(len(X))
train_loader = DataLoader(TensorDataset(X[order[:70]], Y[order[:70]]), batch_size=16, shuffle=True)
held_out = X[order[70:]], Y[order[70:]]
