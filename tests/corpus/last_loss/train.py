"""The commonest of all: after the inner loop, the loss of the last (ragged) batch is printed as the epoch's."""
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)

# Hyper-parameters
input_size = 5
output_size = 1
num_epochs = 6
learning_rate = 0.05

x_train = torch.randn(90, input_size, dtype=torch.double)
y_train = x_train @ torch.randn(input_size, output_size, dtype=torch.double) + 0.3
train_loader = DataLoader(dataset=TensorDataset(x_train, y_train), batch_size=20, shuffle=True)

# Linear regression model
model = nn.Linear(input_size, output_size).double()

# Loss and optimizer
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)

# Train the model
total_step = len(train_loader)
for epoch in range(num_epochs):
    for i, (inputs, targets) in enumerate(train_loader):
        # Forward pass
        outputs = model(inputs)
        loss = criterion(outputs, targets)

        # Backward and optimize
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if (i+1) % 3 == 0:
            print ('Epoch [{}/{}], Step [{}/{}], Loss: {:.12f}'
                   .format(epoch+1, num_epochs, i+1, total_step, loss.item()))

    if (epoch+1) % 2 == 0:
        print ('Epoch [{}/{}], Loss: {:.12f}'.format(epoch+1, num_epochs, loss.item()))

# The whole training set at once
predicted = model(x_train).detach()
print('final', criterion(predicted, y_train).item())
