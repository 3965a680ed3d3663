"""Functions and networks that call themselves."""

from tests.rules.tools import beyond, converted, script

TREE = """
class Tree(nn.Module):
    def __init__(self, width, level=1):
        super().__init__()
        if level == 1:
            self.left, self.right = nn.Linear(width, width), nn.Linear(width, width)
        else:
            self.left = Tree(width, level=level - 1)
            self.right = Tree(width + 0, level=level - 1)

    def forward(self, x):
        one = self.left(x)
        return torch.relu(one + self.right(one))
"""


def test_a_network_of_networks_of_its_own_class() -> None:
    """Each holds two more, to a depth that is not followed to its end."""
    plan, text = converted(script(setup=TREE, model="model = Tree(3, level=4)"))
    assert not plan.refusals
    assert "DistributedDataParallel(Tree(3, level=4)" in text


def test_a_function_that_counts_down() -> None:
    setup = "def build(n):\n    return n if n < 2 else build(n - 1) + build(n - 2)"
    assert beyond(setup=setup, before="print(build(30))") == []
