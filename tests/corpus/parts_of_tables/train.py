"""x[i : i + n] and y[i : i + n] by hand after a shuffle of both; gradients of several such batches are added up."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)
inputs = torch.randn(62, 2, 30)
targets = inputs[:, 0, ::3].sum(1, keepdim=True) * 0.3 + inputs[:, 1, :5].mean(1, keepdim=True)
batch_size, log_interval = 9, 3


class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(2, 8, 5, padding=4)
        self.conv2 = nn.Conv1d(8, 8, 5, padding=8, dilation=2)
        self.linear = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.conv1(x)[:, :, :-4])
        x = torch.relu(self.conv2(x)[:, :, :-8])
        return self.linear(x[:, :, -1])


model = TCN()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)


def train(epoch):
    global inputs, targets
    model.train()
    shuffle = torch.randperm(inputs.size(0))
    inputs, targets = inputs[shuffle], targets[shuffle]
    batch_idx = 1
    total_loss = 0
    for i in range(0, inputs.size(0), batch_size):
        if i + batch_size > inputs.size(0):
            x, y = inputs[i:], targets[i:]
        else:
            x, y = inputs[i:(i+batch_size)], targets[i:(i+batch_size)]
        optimizer.zero_grad()
        output = model(x)
        loss = F.mse_loss(output, y)
        loss.backward()
        optimizer.step()
        batch_idx += 1
        total_loss += loss.item()

        if batch_idx % log_interval == 0:
            cur_loss = total_loss / log_interval
            processed = min(i + batch_size, inputs.size(0))
            print('Train Epoch: {:2d} [{:6d}/{:6d}]\tLearning rate: {:.4f}\tLoss: {:.10f}'.format(
                epoch, processed, inputs.size(0), optimizer.param_groups[0]['lr'], cur_loss))
            total_loss = 0


for ep in range(1, 4):
    train(ep)
    torch.save(model.state_dict(), "model.pt")
