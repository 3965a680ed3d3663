"""Hooks for PyTorch: loaders, the outermost call of a network, backward, an optimizer's step."""

import time

TYPE_CHECKING = False  # `typing` would be imported into every measured process for nothing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainera.bench.hooks.meter import Meter

_clock = time.perf_counter


def hook(torch: "Any", meter: "Meter", after_import: "Callable[..., None]") -> None:
    """Puts the hooks in, once torch has been imported."""
    if meter.journal is not None:
        meter.journal.watch_torch(torch)
    meter.gpu_memory.append(lambda: _gpu_memory(torch))
    _hook_loaders(meter)
    _hook_optimizers(meter)
    if meter.timed:
        _hook_networks(torch, meter)
        after_import("horovod.torch.mpi_ops", lambda module: _hook_horovod(module, meter))
    if torch.cuda.is_available():
        meter.synchronise = lambda: _synchronise(torch)


def _gpu_memory(torch: "Any") -> "dict[int, int]":
    """The most that each GPU held; none of those that were not used."""
    if not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return {}
    peaks = {gpu: torch.cuda.max_memory_allocated(gpu) for gpu in range(torch.cuda.device_count())}
    return {gpu: peak for gpu, peak in peaks.items() if peak}


def _synchronise(torch: "Any") -> None:
    """GPUs work on while Python goes ahead; a phase ends when its work is done."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _hook_loaders(meter: "Meter") -> None:
    from torch.utils.data import dataloader

    loader_class, iterator_class = dataloader.DataLoader, dataloader._BaseDataLoaderIter
    begin, advance = loader_class.__iter__, iterator_class.__next__

    def hooked_iter(loader: "Any") -> "Any":
        start_s = _clock()
        iterator: Any = begin(loader)
        iterator._trainera_begun = (loader, start_s)
        iterator._trainera_pass = None
        return iterator

    def hooked_next(iterator: "Any") -> "Any":
        if meter.ignores:
            return advance(iterator)
        start_s = meter.now()
        meter.events += 1
        own = getattr(iterator, "_trainera_pass", None)
        if own is None:
            loader, begun_s = getattr(iterator, "_trainera_begun", (iterator, start_s))
            own = iterator._trainera_pass = meter.began(loader, begun_s)
            start_s = begun_s
        meter.current = own
        try:
            batch = advance(iterator)
        except StopIteration:
            own.over = True
            iterator._trainera_pass = None
            raise
        finally:
            own.end_s = _clock()
            own.add("data", own.end_s - start_s)
        own.samples += meter.rows(batch)
        return batch

    loader_class.__iter__ = hooked_iter  # type: ignore[method-assign]
    iterator_class.__next__ = hooked_next  # type: ignore[method-assign, assignment]


def _hook_optimizers(meter: "Meter") -> None:
    from torch.optim.optimizer import (
        register_optimizer_step_post_hook,
        register_optimizer_step_pre_hook,
    )

    begun_s: list[float] = []

    def before(*_: object) -> None:
        begun_s.append(meter.now() if meter.timed else 0.0)
        meter.inside = "optimizer"

    def after(*_: object) -> None:
        start_s = begun_s.pop()
        if begun_s:  # a step within a step, of a wrapper around an optimizer
            return
        meter.inside = ""
        if meter.timed:
            meter.add("optimizer", start_s)
        if meter.current is not None:
            meter.current.steps += 1
            meter.current.end_s = _clock()

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def _hook_networks(torch: "Any", meter: "Meter") -> None:
    call, backward = torch.nn.Module.__call__, torch.autograd.backward

    def hooked_call(module: "Any", *arguments: "Any", **options: "Any") -> "Any":
        if meter.depth or meter.ignores:
            meter.inner_calls += 1
            return call(module, *arguments, **options)
        meter.depth = 1
        start_s = meter.now()
        try:
            return call(module, *arguments, **options)
        finally:
            meter.depth = 0
            meter.add("forward", start_s)

    def hooked_backward(*arguments: "Any", **options: "Any") -> "Any":
        if meter.suspended:
            return backward(*arguments, **options)
        start_s = meter.now()
        meter.inside = "backward"
        try:
            return backward(*arguments, **options)
        finally:
            meter.inside = ""
            meter.add("backward", start_s)

    torch.nn.Module.__call__ = hooked_call
    torch.autograd.backward = hooked_backward


def _hook_horovod(operations: "Any", meter: "Meter") -> None:
    """Horovod waits for gradients when the optimizer steps; DDP does within backward.

    So that the phases of both can be compared, the wait counts as backward wherever it is.
    """
    synchronize = operations.synchronize

    def hooked_synchronize(*arguments: "Any", **options: "Any") -> "Any":
        start_s = _clock()
        try:
            return synchronize(*arguments, **options)
        finally:
            current, waited_s = meter.current, _clock() - start_s
            meter.events += 1
            if current is not None and not current.over and meter.inside != "backward":
                current.add("backward", waited_s)
                if meter.inside == "optimizer":
                    current.add("optimizer", -waited_s)

    operations.synchronize = hooked_synchronize
