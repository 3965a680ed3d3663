"""random_split without a generator, DataLoader(**kwargs) from dictionaries, two loader processes."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Rings(Dataset):
    def __init__(self, n=270):
        angle = torch.rand(n, dtype=torch.float64) * 6.283185307
        self.label = torch.randint(0, 2, (n,))
        radius = 1 + self.label + 0.25 * torch.randn(n, dtype=torch.float64)
        self.point = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.point[i], self.label[i]


def main():
    torch.manual_seed(2024)
    use_cuda = torch.cuda.is_available()

    dataset = Rings()
    n_val = int(len(dataset) * 0.3)
    n_train = len(dataset) - n_val
    train_set, val_set = random_split(dataset, [n_train, n_val])

    train_kwargs = {'batch_size': 24, 'shuffle': True}
    test_kwargs = {'batch_size': 40}
    loader_kwargs = {'num_workers': 2, 'pin_memory': use_cuda}
    train_kwargs.update(loader_kwargs)
    test_kwargs.update(loader_kwargs)
    train_loader = DataLoader(train_set, **train_kwargs)
    val_loader = DataLoader(val_set, **test_kwargs)
    print('train on', len(train_set), 'validate on', len(val_set), 'first indices', train_set.indices[:5])

    model = nn.Sequential(nn.Linear(2, 20), nn.ReLU(), nn.Linear(20, 2)).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(2):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        val_loss, val_correct = 0.0, 0
        with torch.no_grad():
            for x, y in val_loader:
                out = model(x)
                val_loss += loss_fn(out, y).item() * y.size(0)
                val_correct += out.argmax(1).eq(y).sum().item()
        print('epoch {}: val loss {:.10f}, val acc {:.4f}'.format(epoch, val_loss / n_val, val_correct / n_val))


if __name__ == '__main__':
    main()
