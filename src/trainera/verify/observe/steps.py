"""What is learned from: losses, gradients, learning rates and what a step makes of them."""

import os
import sys
import weakref
from typing import Any

import torch
from torch.optim import lr_scheduler
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from trainera.verify.observe.digest import summary, total_norm_and_sum
from trainera.verify.observe.record import Recorder, put
from trainera.verify.observe.samples import Samples

DETAILED_STEPS = 5
"""Steps of which every parameter is noted by itself."""


class Steps:
    """Notes every backward pass and every step of an optimizer."""

    def __init__(self, recorder: Recorder, samples: Samples) -> None:
        self.recorder = recorder
        self.samples = samples
        self.optimizers: list[Optimizer] = []
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._by_parameters: dict[frozenset[int], int] = {}
        self._pending: dict[int, dict[str, Any]] = {}
        self._generator = b""

    def install(self) -> None:
        """Puts the hooks in."""
        original_backward = torch.autograd.backward

        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **options: Any) -> Any:
            self._before_backward(tensors, grad_tensors)
            return original_backward(tensors, grad_tensors, *args, **options)

        put(torch.autograd, "backward", backward)
        for name in ("clip_grad_norm_", "clip_grad_norm"):
            self._watch_clipping(name)
        self._watch_schedulers()
        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)

    def _before_backward(self, tensors: Any, gradients: Any) -> None:
        with torch._C.DisableTorchFunction(), torch.no_grad():
            one = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors))
            value = one.detach().double()
            first = gradients
            if isinstance(gradients, tuple | list):
                first = gradients[0] if gradients else None
            if isinstance(first, torch.Tensor):
                value = value * first.double()
            self.recorder.write("back", v=value.sum().item())

    def _watch_clipping(self, name: str) -> None:
        module: Any = torch.nn.utils
        original = getattr(module, name, None)
        if original is None:
            return

        def clip(*args: Any, **options: Any) -> Any:
            norm = original(*args, **options)
            self.recorder.write("clip", v=float(norm))
            return norm

        put(module, name, clip)
        put(module.clip_grad, name, clip)

    def _watch_schedulers(self) -> None:
        """Notes each step of a schedule, and the number that it is given if it waits for one."""
        depth = 0

        def watched(original: Any) -> Any:
            def step(scheduler: Any, *args: Any, **options: Any) -> Any:
                nonlocal depth
                depth += 1
                try:
                    return original(scheduler, *args, **options)
                finally:
                    depth -= 1
                    if not depth:  # a schedule may be made of others
                        given = args[0] if args else options.get("metrics")
                        number = None if given is None else float(given)
                        self.recorder.write("rate", m=number)

            return step

        for kind in vars(lr_scheduler).values():
            if isinstance(kind, type) and "step" in vars(kind):
                put(kind, "step", watched(vars(kind)["step"]))

    def number(self, optimizer: Any) -> int:
        """The optimizer's number in the order of first steps; a wrapper shares its inner's."""
        if optimizer not in self._numbers:
            parameters = frozenset(map(id, _parameters(optimizer)))
            number = self._by_parameters.setdefault(parameters, len(self._by_parameters))
            self._numbers[optimizer] = number
            if number == len(self.optimizers):
                self.optimizers.append(optimizer)
            else:
                self.optimizers[number] = optimizer
        return self._numbers[optimizer]

    def _before(self, optimizer: Any, args: Any, options: Any) -> None:
        self._stop_if_enough()
        with torch._C.DisableTorchFunction():
            number = self.number(optimizer)
            closure = bool(options.get("closure")) or (len(args) > 1 and args[1] is not None)
            event = self._pending.get(number)
            if event is None:
                event = {"before": list(total_norm_and_sum(_parameters(optimizer)))}
            event["closure"] = closure
            if not closure:
                event.update(self._gradients(optimizer))
            # An inner optimizer comes second, when what an outer one does to the gradients is done.
            self._pending[number] = event

    def _after(self, optimizer: Any, args: Any, options: Any) -> None:
        with torch._C.DisableTorchFunction():
            event = self._pending.pop(self.number(optimizer), None)
            if event is None:  # the outer one, after its inner has been noted
                return
            if event.pop("closure"):
                event.update(self._gradients(optimizer))
            parameters = _parameters(optimizer)
            norm, total = total_norm_and_sum(parameters)
            event.update(w=[norm, total], lr=[_number(g["lr"]) for g in optimizer.param_groups])
            if self.recorder.step < DETAILED_STEPS:
                event["each"] = summary(parameters)
            current = self.samples.current
            if current is not None and not current.stepped:
                current.stepped = True
                self.recorder.epochs += 1
            self.recorder.step += 1
            sys.stdout.flush()
            event["out"] = os.lseek(1, 0, os.SEEK_CUR)
            self.recorder.write("step", o=self.number(optimizer), **event)

    def _gradients(self, optimizer: Any) -> dict[str, Any]:
        gradients = [p.grad for p in _parameters(optimizer) if p.grad is not None]
        norm, total = total_norm_and_sum(gradients)
        found: dict[str, Any] = {"g": [norm, total], "n": len(gradients)}
        if self.recorder.step < DETAILED_STEPS:
            found["grads"] = summary(gradients)
        return found

    def _stop_if_enough(self) -> None:
        settings = self.recorder.settings
        enough = settings.steps is not None and self.recorder.step >= settings.steps
        if settings.epochs is not None and self.recorder.epochs >= settings.epochs:
            current = self.samples.current
            enough = enough or (current is not None and not current.stepped)
        if enough:
            self.recorder.write("enough")
            raise SystemExit(0)


def _parameters(optimizer: Any) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _number(value: Any) -> float:
    return float(value)
