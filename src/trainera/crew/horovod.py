"""The crew on Horovod: its collectives, and an optimizer that behaves as in one process.

The converted script imports Horovod and hands it over, so that nothing here imports it.
"""

import os
from typing import Any

import torch

from trainera.crew.joining import enter
from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT
from trainera.crew.waiting import WAITING
from trainera.crew.wire import broadcast_object

UNKNOWN_TO_HOROVOD = (torch.bool, torch.bfloat16, torch.complex64, torch.complex128)


class HorovodCollectives:
    """The collectives of Horovod, which tells tensors apart by name."""

    def __init__(self, hvd: Any) -> None:
        self.hvd = hvd
        self.optimizers = 0

    def add_up(self, tensor: torch.Tensor) -> None:
        with WAITING:
            self.hvd.allreduce_(tensor, op=self.hvd.Sum, name=message_name("sum", tensor))

    def broadcast(self, tensor: torch.Tensor) -> None:
        with WAITING:
            self.hvd.broadcast_(tensor, 0, name=message_name("broadcast", tensor))

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        # Horovod's thread gives the result its size, which a tensor of inference mode forbids.
        with WAITING, torch.inference_mode(False):
            flat = self.hvd.allgather(tensor.reshape(-1), name=message_name("gather", tensor))
        return [piece.reshape(tensor.shape) for piece in flat.chunk(CREW.size)]


def message_name(kind: str, tensor: torch.Tensor) -> str:
    """A name that comes again with every tensor of this form: Horovod remembers how to send it."""
    return f"crew.{kind}.{tensor.dtype}.{tensor.numel()}"


def join_horovod(hvd: Any) -> None:
    """Makes this process a worker of the crew that Horovod's launcher started."""

    def find_place() -> None:
        hvd.init()  # which also sees to it that Horovod is shut down at exit
        CREW.rank, CREW.size = hvd.rank(), hvd.size()
        CREW.local_rank, CREW.local_size = hvd.local_rank(), hvd.local_size()
        if CREW.size == 1 and int(os.environ.get("WORLD_SIZE", "1")) > 1:
            # Each worker would train for itself, and all of them over the same files.
            raise SystemExit(
                "trainera: this script was converted for Horovod, and torchrun started it: "
                "use horovodrun -np N, or convert it with --engine ddp"
            )

    def start() -> None:
        TRANSPORT.by = HorovodCollectives(hvd)

    enter(find_place, start)


def averaged(distributed: Any, optimizer: Any, named_parameters: Any = (), **options: Any) -> Any:
    """The optimizer in Horovod's wrapper `distributed`, but for what the wrapper would change.

    Gradients are averaged when backward() ends, as an engine that wraps the network does it. So
    clipping, accumulation over several batches, a step that is left out or a look at the gradients
    need no further change.
    """
    adaptive = "op" in options
    if adaptive and CREW.size > 1 and not TRANSPORT.by.hvd.mpi_built():
        raise SystemExit(
            "trainera: Adasum needs a Horovod with MPI, which this one was built without: "
            "HOROVOD_WITH_MPI=1 trainera engines install horovod --rebuild"
        )
    names = {parameter: name for name, parameter in named_parameters}
    groups = enumerate(optimizer.param_groups)
    for place, parameter in [(i, p) for i, group in groups for p in group["params"]]:
        if parameter.dtype in UNKNOWN_TO_HOROVOD and CREW.size > 1:
            raise SystemExit(
                f"trainera: Horovod cannot send gradients in {parameter.dtype}: keep the network "
                "in float32 (torch.autocast may use less inside), or use --engine ddp"
            )
        names.setdefault(parameter, f"group{place}.{len(names)}")
    named = [(name, parameter) for parameter, name in names.items()]
    wrapped = distributed(without_constructor(optimizer), named_parameters=named, **options)
    cls: Any = type(wrapped)  # Horovod makes a new class for each optimizer
    plain: Any = cls.__mro__[1]
    # Horovod's own knows no set_to_none, and forbids what is harmless once gradients are averaged.
    cls.zero_grad = plain.zero_grad
    if CREW.size == 1:
        cls.step = plain.step
        return wrapped
    same_settings(wrapped)
    wrapped._steps_apart = adaptive  # Adasum combines what each worker's own step did
    if not adaptive:
        Averaging(wrapped, cls, plain)
    return wrapped


def without_constructor(optimizer: Any) -> Any:
    """The optimizer as a class that can be made anew of its parameter groups alone.

    Horovod builds a second one that way and forgets the defaults, which are the settings of groups
    that are added later. And it would miss arguments that an optimizer's constructor insists on.
    """
    original: Any = type(optimizer)

    def take_over(self: Any, params: Any) -> None:
        torch.optim.Optimizer.__init__(self, params, dict(optimizer.defaults))
        known = set(vars(self))
        vars(self).update({k: v for k, v in vars(optimizer).items() if k not in known})

    names = {"__init__": take_over, "__module__": original.__module__, "__doc__": original.__doc__}
    optimizer.__class__ = type(original.__name__, (original,), names)
    return optimizer


def same_settings(optimizer: Any) -> None:
    """The first worker's learning rates and other settings, on every worker.

    hvd.broadcast_optimizer_state() is not used: it makes a step of zero gradients to have a state
    to send, by which Adam counts a step too many and weight decay shrinks the weights.
    """
    settings = [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
    for group, setting in zip(optimizer.param_groups, broadcast_object(settings), strict=True):
        group.update(setting)


def refuse_stand_ins() -> None:
    """Rows of stand-ins would count as used, and be moved by an optimizer of sparse gradients."""
    if CREW.last is not None and CREW.last._some_idle:
        # No SystemExit: only the first worker's is heard, and another may be the first to end.
        raise RuntimeError(
            "trainera: Horovod cannot tell sparse gradients of a batch of which a worker has no "
            "sample: use --engine ddp, fewer workers, drop_last=True, or shares that are not 0"
        )


class Averaging:
    """Averages an optimizer's gradients as soon as backward() has computed them."""

    def __init__(self, optimizer: Any, cls: Any, plain: Any) -> None:
        self.optimizer = optimizer
        self.queued = False
        self.known: dict[torch.Tensor, None] = {}  # in their order
        TRANSPORT.by.optimizers += 1
        self.number = TRANSPORT.by.optimizers
        synchronize = cls.synchronize

        def synchronize_then_mend(own: Any) -> None:
            self.average(synchronize)

        def step(own: Any, *closure: Any) -> Any:
            # All is averaged already, unless backward() was cut short.
            if own._handles or self.unknown():
                own.synchronize()
            own._synchronized = False
            return plain.step(own, *closure)

        cls.synchronize, cls.step = synchronize_then_mend, step
        # Two optimizers may each have a "fc.weight", and Horovod tells tensors apart by name.
        names = optimizer._parameter_names
        optimizer._parameter_names = {p: f"gradient.{self.number}.{n}" for p, n in names.items()}
        self.welcome()

    def unknown(self) -> list[torch.Tensor]:
        """Parameters that were thawed or added since, which Horovod would not average."""
        groups = self.optimizer.param_groups
        trained = [p for group in groups for p in group["params"] if p.requires_grad]
        return [parameter for parameter in trained if parameter not in self.known]

    def welcome(self) -> None:
        """Takes such parameters on."""
        optimizer = self.optimizer
        for parameter in self.unknown():
            name = f"gradient.{self.number}.later.{len(self.known)}"
            optimizer._parameter_names.setdefault(parameter, name)
            optimizer._allreduce_delay.setdefault(parameter, optimizer.backward_passes_per_step)
            optimizer._requires_update.add(parameter)
            self.known[parameter] = None
            thing: Any = parameter  # the method has no types
            thing.register_post_accumulate_grad_hook(self.note)

    def note(self, parameter: torch.Tensor) -> None:
        """Called in backward() for each gradient; the first time, asks to be called at its end."""
        CREW.require_all("backward()")
        if parameter.grad is not None and parameter.grad.is_sparse:
            refuse_stand_ins()
        if not self.queued:
            self.queued = True
            engine: Any = torch.autograd.Variable._execution_engine
            engine.queue_callback(self.finish)

    def finish(self) -> None:
        """The end of backward()."""
        self.queued = False
        self.optimizer.synchronize()

    def average(self, synchronize: Any) -> None:
        """Averages all gradients; those that no worker has stay None.

        Horovod would make them 0, and an optimizer with weight decay or momentum moves on a
        gradient of 0, but not without one. To ask the others who has which would cost a tenth of
        the speed; that nothing came from them says as much.
        """
        self.welcome()
        absent = [parameter for parameter in self.known if parameter.grad is None]
        with WAITING:
            synchronize(self.optimizer)
        for parameter in absent:
            if parameter.grad is not None and not parameter.grad.any():
                parameter.grad = None
