import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 4)
    def forward(self, x): return self.head(self.net(x))
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5, shuffle=True)
teacher, student = Student(), Student()
teacher.load_state_dict(student.state_dict())
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        s = student(a)
        with torch.no_grad():
            t = teacher(a)
        loss = F.cross_entropy(s, b) + F.kl_div(s.log_softmax(1), t.softmax(1), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for ps, pt in zip(student.parameters(), teacher.parameters()):
                pt.lerp_(ps, 0.1)
        print(loss.item())
torch.save({"s": student.state_dict(), "t": teacher.state_dict()}, "m.pt")
