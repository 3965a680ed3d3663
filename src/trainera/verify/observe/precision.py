"""Full precision everywhere: rounding is then too small to hide a mistake, or to look like one."""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from trainera.verify.observe.digest import NARROW, leaves, replaced, widened
from trainera.verify.observe.record import put


class FullPrecision(TorchFunctionMode):
    """Makes every floating-point tensor one of 64 bits, whatever the script asks for."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _CONVERSIONS:
            return torch.Tensor.double(args[0])
        if any(type(item) is torch.dtype for item in args):
            args = tuple(_wide(item) for item in args)
        if kwargs:
            kwargs = {name: _wide(item) for name, item in kwargs.items()}
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            if not _is_about_types(error):
                raise
            # A tensor that was made where we could not see it.
            return func(*widened(args), **widened(kwargs))
        if isinstance(result, torch.Tensor) and result.dtype in NARROW:
            of_narrow = any(
                isinstance(item, torch.Tensor) and item.dtype in NARROW
                for item in leaves([*args, *kwargs.values()])
            )
            # What is made of a narrow tensor may share its memory: it stays as it is.
            if not of_narrow:
                return result.double()
        return result


_CONVERSIONS = frozenset({torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16})


def _wide(item: Any) -> Any:
    return torch.float64 if type(item) is torch.dtype and item in NARROW else item


def _is_about_types(error: RuntimeError) -> bool:
    message = str(error)
    return "dtype" in message or "scalar type" in message or "same type" in message


def install() -> None:
    """From now on. There is no way back, and no need for one: the process is ours."""
    torch.set_default_dtype(torch.float64)
    names: Any = torch
    names.FloatTensor = names.HalfTensor = names.BFloat16Tensor = torch.DoubleTensor
    original_scaler = torch.amp.GradScaler.__init__

    def unscaled(self: Any, *args: Any, **options: Any) -> None:
        original_scaler(self, *args, **{**options, "enabled": False})

    torch.amp.GradScaler.__init__ = unscaled  # type: ignore[method-assign]
    put(torch, "load", _loading_wide(torch.load))
    FullPrecision().__enter__()  # type: ignore[no-untyped-call]


def _loading_wide(original: Any) -> Any:
    """torch.load, of a file that an ordinary run has written.

    It puts tensors together from their memory, which only goes by the type that they have there.
    """

    def load(*args: Any, **options: Any) -> Any:
        with torch._C.DisableTorchFunction():
            found = original(*args, **options)
            for one in leaves(found):
                if isinstance(one, torch.nn.Module):
                    one.double()
            return replaced(found, _widened_leaf)

    return load


def _widened_leaf(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype not in NARROW:
        return tensor
    wide = tensor.detach().double()
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(wide, requires_grad=tensor.requires_grad)
    return wide.requires_grad_(tensor.requires_grad)
