"""Whether what a script prints hangs on rounding alone.

A crew adds up in another order than one process. Where a script makes 1e-3 of the last digit (it
divides by what is nearly nought, inverts what is singular) two right runs differ, and a difference
says nothing. So the sequential script is run once more with every output of a network and every
gradient changed in its last digit: if that changes what it prints, the script is no judge.
"""

BEFORE = """\
import torch as _torch
from torch.optim.optimizer import register_optimizer_step_pre_hook as _before_step
from torch.utils._pytree import tree_map_only as _map

_source = _torch.Generator().manual_seed(1)


def _digit(tensor):
    return 2.3e-16 * (2 * _torch.randint(0, 2, tensor.shape, generator=_source) - 1)


def _output(module, given, output):
    def shake(one):
        return one * (1 + _digit(one)) if one.is_floating_point() else one

    return _map(_torch.Tensor, shake, output)


def _gradients(optimizer, *_):
    owned = [one for group in optimizer.param_groups for one in group["params"]]
    found = [one.grad for one in owned if one.grad is not None]
    size = max((float(one.abs().max()) for one in found if one.numel()), default=0.0)
    for one in found:
        one.add_(size * _digit(one))


_hooks = [_torch.nn.modules.module.register_module_forward_hook(_output), _before_step(_gradients)]
"""
AFTER = """
for _hook in _hooks:
    _hook.remove()
"""


def shaken(source: str) -> str:
    """The script with other last digits; what it draws at random stays the same."""
    future = [line for line in source.splitlines() if line.startswith("from __future__")]
    body = "\n".join(line for line in source.splitlines() if not line.startswith("from __future__"))
    return "\n".join([*future, BEFORE, body, AFTER])
