from sklearn.datasets import load_digits
import torch
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self, start, stop):
        data = load_digits()
        self.images = torch.tensor(data.data[start:stop] / 16.0)
        self.targets = torch.tensor(data.target[start:stop])

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, idx):
        return self.images[idx], self.targets[idx]


def get_loaders(batch_size):
    train = DataLoader(Digits(0, 510), batch_size=batch_size, shuffle=True)
    test = DataLoader(Digits(510, 700), batch_size=batch_size, shuffle=False)
    return train, test
