"""A dataclass of settings, an output directory made with makedirs, history as JSON, loaders in a dictionary."""
import json
import os
import random
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 123
    out_dir: str = "run"
    batch_size: int = 26
    epochs: int = 3
    lr: float = 3e-3


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def make_dataloaders(cfg):
    x = torch.from_numpy(np.random.randn(300, 12))
    y = torch.from_numpy((np.random.rand(300) > 0.5).astype(np.int64))
    x[:, 0] += y * 2
    pieces = {"train": slice(0, 200), "valid": slice(200, 300)}
    return {
        phase: DataLoader(TensorDataset(x[s], y[s]), batch_size=cfg.batch_size, shuffle=phase == "train")
        for phase, s in pieces.items()
    }


def main():
    cfg = Config()
    print(cfg)
    seed_everything(cfg.seed)
    os.makedirs(cfg.out_dir, exist_ok=True)
    dataloaders = make_dataloaders(cfg)
    dataset_sizes = {phase: len(dl.dataset) for phase, dl in dataloaders.items()}
    model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2)).double()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    history = []
    for epoch in range(cfg.epochs):
        record = {"epoch": epoch}
        # Each epoch has a training and validation phase
        for phase in ["train", "valid"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            running_loss = 0.0
            running_corrects = 0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels).item()
            record[phase + "_loss"] = running_loss / dataset_sizes[phase]
            record[phase + "_acc"] = running_corrects / dataset_sizes[phase]
        history.append(record)
        print(record)

    with open(os.path.join(cfg.out_dir, "history.json"), "w") as f:
        json.dump({"config": asdict(cfg), "history": history}, f, indent=2)
    torch.save(model.state_dict(), os.path.join(cfg.out_dir, "model.pt"))


if __name__ == "__main__":
    main()
