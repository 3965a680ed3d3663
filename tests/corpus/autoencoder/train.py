"""An autoencoder: the targets are the inputs; model.encode(x) is called on the trained model."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 24), nn.ReLU(True), nn.Linear(24, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 24), nn.ReLU(True), nn.Linear(24, 64), nn.Sigmoid())

    def encode(self, x):
        return self.encoder(x)

    def forward(self, x):
        x = self.encoder(x)
        x = self.decoder(x)
        return x


torch.manual_seed(9)
num_epochs = 4
images = torch.tensor(load_digits().data[:330]) / 16.0

# a tensor is a dataset, too
dataloader = DataLoader(images, batch_size=32, shuffle=True)

model = Autoencoder().double()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)

for epoch in range(num_epochs):
    total = 0.0
    for img in dataloader:
        # ===================forward=====================
        output = model(img)
        loss = criterion(output, img)
        # ===================backward====================
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * img.size(0)
    # ===================log========================
    print('epoch [{}/{}], loss:{:.12f}'.format(epoch + 1, num_epochs, total / len(images)))

model.eval()
with torch.no_grad():
    codes = model.encode(images[:5])
for row in codes.tolist():
    print(' '.join('%.8f' % v for v in row))
torch.save(codes, 'codes.pt')
torch.save(model.state_dict(), 'autoencoder.pt')
