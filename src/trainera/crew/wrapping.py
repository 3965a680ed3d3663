"""What lies between a script and a network in the wrapper that averages its gradients."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT

Given = TypeVar("Given")


def with_frozen(wrapper: Callable[..., Given], model: Any, **options: Any) -> Given:
    """The model in the wrapper, which also knows the parameters that are frozen for now.

    A wrapper averages the gradients of those that may learn when it is made, and of no others
    that are freed later on.
    """
    frozen = [
        parameter
        for parameter in model.parameters()
        if not parameter.requires_grad and (parameter.is_floating_point() or parameter.is_complex())
    ]
    for parameter in frozen:
        parameter.requires_grad_(True)
    try:
        return wrapper(model, **options)
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def alike(model: Any) -> Any:
    """The model without a wrapper; all start from the first worker's parameters and buffers."""
    tensors = model.state_dict().values() if CREW.size > 1 else ()
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.numel():
            plain = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
            TRANSPORT.broadcast(plain)  # as bytes: not every engine knows every type
            tensor.copy_(plain.view(tensor.dtype).reshape(tensor.shape))
    return model


class Through:
    """Calls methods of a wrapped network as the wrapper would call its forward().

    Only what goes through the wrapper's own call has its gradients averaged.
    """

    def __init__(self, wrapper: Any) -> None:
        self._wrapper = wrapper

    def __getattr__(self, name: str) -> Callable[..., Any]:
        wrapper, module = self._wrapper, self._wrapper.module
        method = getattr(module, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            before = vars(module).get("forward")

            def restore() -> None:
                if before is None:
                    vars(module).pop("forward", None)
                else:
                    module.forward = before

            def forward(*args: Any, **kwargs: Any) -> Any:
                restore()  # the method may call the network itself
                return method(*args, **kwargs)

            forward.stands_for = name  # type: ignore[attr-defined]
            module.forward = forward
            try:
                return wrapper(*args, **kwargs)
            finally:
                restore()

        return call


def through(model: Any) -> Any:
    """The model, its methods going through the wrapper if it has one."""
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        return Through(model)
    return model


def same_input(model: Callable[..., Given]) -> Callable[..., Given]:
    """The model, for input that is the same on every worker: its statistics are the whole's."""

    def call(*args: Any, **kwargs: Any) -> Given:
        before, CREW.alike = CREW.alike, True
        try:
            return model(*args, **kwargs)
        finally:
            CREW.alike = before

    return call


def bare(model: Any) -> Any:
    """The model inside of a wrapper that averages gradients, or the model itself."""
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        return model.module
    return model
