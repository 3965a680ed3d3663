"""float32 LSTM classifier (batch_first) with padding in a collate_fn and packed sequences."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Walks(Dataset):
    """Random walks that drift up or down, of different lengths."""
    def __init__(self, n):
        self.data = []
        for i in range(n):
            length = int(torch.randint(5, 15, (1,)))
            drift = 0.3 if i % 2 else -0.3
            steps = torch.randn(length, 2) + drift
            self.data.append((steps.cumsum(0), i % 2))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        return self.data[idx]


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(labels)


class LSTMClassifier(nn.Module):
    def __init__(self, input_dim, hidden_dim, num_layers, output_dim):
        super().__init__()
        self.lstm = nn.LSTM(input_dim, hidden_dim, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (hn, cn) = self.lstm(packed)
        return self.fc(hn[-1])


train_loader = DataLoader(Walks(160), batch_size=20, shuffle=True, collate_fn=collate)
test_loader = DataLoader(Walks(70), batch_size=20, shuffle=False, collate_fn=collate)

model = LSTMClassifier(2, 10, 1, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for epoch in range(3):
    model.train()
    train_loss = 0
    for x, lengths, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x, lengths), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() / len(train_loader)

    model.eval()
    correct = 0
    for x, lengths, y in test_loader:
        with torch.no_grad():
            pred = model(x, lengths).argmax(dim=1)
        correct += (pred == y).sum().item()
    print(f"Epoch: {epoch + 1} | Train Loss: {train_loss:.4f} | Test Acc: {correct / len(test_loader.dataset):.4f}")
