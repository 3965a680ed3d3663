"""A variational autoencoder: noise is drawn inside of forward, in training and in evaluation."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)
data = torch.rand(101, 12)
train_loader = DataLoader(TensorDataset(data[:80]), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(data[80:]), batch_size=4)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 10)
        self.fc21 = nn.Linear(10, 3)
        self.fc22 = nn.Linear(10, 3)
        self.fc3 = nn.Linear(3, 10)
        self.fc4 = nn.Linear(10, 12)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def train(epoch):
    model.train()
    train_loss = 0
    for (x,) in train_loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss = loss_function(recon, x, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print("====> Epoch: {} Average loss: {:.10f}".format(epoch, train_loss / len(train_loader.dataset)))


def test(epoch):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for (x,) in test_loader:
            recon, mu, logvar = model(x)
            test_loss += loss_function(recon, x, mu, logvar).item()
    print("====> Test set loss: {:.10f}".format(test_loss / len(test_loader.dataset)))


for epoch in range(1, 4):
    train(epoch)
    test(epoch)
    with torch.no_grad():
        sample = model.decode(torch.randn(4, 3))
        print("sample mean %.12f" % sample.mean().item())
torch.save(model.state_dict(), "vae.pt")
