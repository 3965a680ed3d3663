"""The networks of a run: what they hold after each epoch and at the end, and what is saved."""

import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from trainera.verify.observe.digest import summary
from trainera.verify.observe.record import Recorder, Seen, put
from trainera.verify.observe.steps import Steps

LARGEST_SHARE_BYTES = 2**31


class State:
    """Knows every network that was called, by its outermost module."""

    def __init__(self, recorder: Recorder, steps: Steps) -> None:
        self.recorder = recorder
        self.steps = steps
        self.networks: list[torch.nn.Module] = []
        self._known = Seen()
        self._depth = 0

    def install(self) -> None:
        """Puts the hooks in."""
        module: Any = torch.nn.Module
        original_call, original_save = module.__call__, torch.save

        def call(one: Any, *args: Any, **options: Any) -> Any:
            if self._depth:
                return original_call(one, *args, **options)
            self._depth += 1
            try:
                self._note(one)
                return original_call(one, *args, **options)
            finally:
                self._depth -= 1

        def save(value: Any, target: Any, *args: Any, **options: Any) -> Any:
            with torch._C.DisableTorchFunction():
                self._saved(value, target)
            return original_save(value, target, *args, **options)

        put(module, "__call__", call)
        put(torch, "save", save)

    def _note(self, one: torch.nn.Module) -> None:
        if self._known.get(one):
            return
        self._known.put(one, True)
        bare = unwrapped(one)
        if any(True for _ in bare.parameters()) or any(True for _ in bare.buffers()):
            if not any(bare is known for known in self.networks):
                self.networks.append(bare)
                kinds = {type(part).__mro__[:-1] for part in bare.modules()}
                batchnorm = any(_BatchNorm in ancestors for ancestors in kinds)
                self.recorder.write("network", batchnorm=batchnorm)

    def _saved(self, value: Any, target: Any) -> None:
        if isinstance(target, io.BytesIO):
            return
        name = target if isinstance(target, str | os.PathLike) else getattr(target, "name", "")
        entries = list(flattened(value))
        tensors = [item for _, item in entries if isinstance(item, torch.Tensor)]
        names = [key for key, item in entries if isinstance(item, torch.Tensor)]
        self.recorder.write(
            "save",
            path=Path(str(name)).name,
            step=self.recorder.step,
            names=names,
            shapes=[list(one.shape) for one in tensors],
            tensors=summary(tensors),
            numbers={
                key: item
                for key, item in entries
                if isinstance(item, int | float) and not isinstance(item, bool)
            },
        )

    def end_of_epoch(self) -> None:
        """Notes what the networks and optimizers hold."""
        with torch._C.DisableTorchFunction():
            names, tensors = self._all()
            self.recorder.write(
                "epoch", step=self.recorder.step, names=names, tensors=summary(tensors)
            )

    def end(self) -> None:
        """The same at the end of the run, with the tensors themselves from the first worker."""
        with torch._C.DisableTorchFunction():
            names, tensors = self._all()
            self.recorder.write(
                "final", step=self.recorder.step, names=names, tensors=summary(tensors)
            )
            size = sum(one.numel() * one.element_size() for one in tensors)
            if self.recorder.rank == 0 and size < LARGEST_SHARE_BYTES:
                content = {
                    name: one.detach().cpu() for name, one in zip(names, tensors, strict=True)
                }
                path = Path(self.recorder.settings.directory) / "final.pt"
                _plain_save(content, path)

    def _all(self) -> tuple[list[str], list[torch.Tensor]]:
        found: dict[str, torch.Tensor] = {}
        for number, network in enumerate(self.networks):
            for name, parameter in network.named_parameters():
                found[f"parameter {number}.{name}"] = parameter
            for name, buffer in network.named_buffers():
                found[f"buffer {number}.{name}"] = buffer
        for number, optimizer in enumerate(self.steps.optimizers):
            for key, item in flattened(optimizer.state_dict().get("state", {})):
                if isinstance(item, torch.Tensor):
                    found[f"optimizer {number}.{key}"] = item
        kept = {name: one for name, one in found.items() if not _uninitialised(one)}
        return list(kept), list(kept.values())


_plain_save = torch.save


def _uninitialised(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, UninitializedParameter | UninitializedBuffer)


def unwrapped(module: Any) -> Any:
    """The network inside of torch's own wrappers."""
    while isinstance(
        module, torch.nn.parallel.DistributedDataParallel | torch.nn.parallel.DataParallel
    ):
        module = module.module
    return getattr(module, "_orig_mod", module)


def flattened(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of nested containers with its path; of a network, its state."""
    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from flattened(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from flattened(item, f"{prefix}.{index}" if prefix else str(index))
    else:
        yield prefix, value
