"""An object that keeps its loaders, networks, loss and optimizers in dictionaries, entry by entry."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Train(object):

    def __init__(self, epochs):
        self.epochs = epochs
        self.data = dict()
        self.model = {}
        self.result = {'best': 0.0}
        torch.manual_seed(4)
        torch.set_default_dtype(torch.float64)

    def _model_loader(self):
        self.model['backbone'] = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.model['metric'] = nn.Linear(16, 3)
        self.model['criterion'] = nn.CrossEntropyLoss()
        self.model['optimizer'] = torch.optim.SGD(
            [{'params': self.model['backbone'].parameters()},
             {'params': self.model['metric'].parameters(), 'lr': 0.2}],
            lr=0.1, momentum=0.9)
        self.model['scheduler'] = torch.optim.lr_scheduler.StepLR(self.model['optimizer'], 2, 0.5)

    def _data_loader(self):
        x = torch.randn(118, 5)
        y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
        self.data['train_loader'] = DataLoader(TensorDataset(x[:90], y[:90]), batch_size=16, shuffle=True)
        self.data['valid_loader'] = DataLoader(TensorDataset(x[90:], y[90:]), batch_size=10)

    def _model_train(self, epoch):
        for name in ('backbone', 'metric'):
            self.model[name].train()
        loss_recorder, batch_acc = [], []
        for idx, (img, gty) in enumerate(self.data['train_loader']):
            output = self.model['metric'](self.model['backbone'](img))
            loss = self.model['criterion'](output, gty)
            self.model['optimizer'].zero_grad()
            loss.backward()
            self.model['optimizer'].step()
            loss_recorder.append(loss.item())
            batch_acc.append((output.argmax(1) == gty).double().mean().item())
            if (idx + 1) % 3 == 0:
                print(f'epoch {epoch} step {idx}: loss {loss.item():.10f}, so far {sum(loss_recorder) / len(loss_recorder):.10f}')
        print('epoch %d: accuracy %.10f, last loss %.10f' % (epoch, sum(batch_acc) / len(batch_acc), loss.item()))

    def _model_eval(self):
        self.model['backbone'].eval()
        self.model['metric'].eval()
        correct = 0
        with torch.no_grad():
            for img, gty in self.data['valid_loader']:
                correct += (self.model['metric'](self.model['backbone'](img)).argmax(1) == gty).sum().item()
        return correct / len(self.data['valid_loader'].dataset)

    def train_runner(self):
        self._model_loader()
        self._data_loader()
        for epoch in range(self.epochs):
            self._model_train(epoch)
            self.model['scheduler'].step()
            accuracy = self._model_eval()
            print('valid', accuracy)
            if accuracy > self.result['best']:
                self.result['best'] = accuracy
                torch.save({'backbone': self.model['backbone'].state_dict(),
                            'metric': self.model['metric'].state_dict()}, 'best.pth')


if __name__ == '__main__':
    Train(3).train_runner()
