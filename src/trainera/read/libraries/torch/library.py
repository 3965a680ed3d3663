"""What torch is asked by the machine."""

import ast
from functools import cached_property

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.libraries import drawing
from trainera.read.libraries.numpy import CHANGERS
from trainera.read.libraries.torch import names
from trainera.read.libraries.torch.autograd import Autograd, add_network
from trainera.read.libraries.torch.data import Loaders
from trainera.read.libraries.torch.losses import Losses
from trainera.read.libraries.torch.networks import Networks
from trainera.read.libraries.torch.nn import Layers, makes_parameter
from trainera.read.libraries.torch.optim import Optimizers
from trainera.read.libraries.torch.tensor import FACTS, QUESTIONS, operation
from trainera.read.libraries.torch.wrapping import Wrapping
from trainera.read.ops.parts import MOVES
from trainera.read.values import (
    PLAIN,
    Choice,
    Class,
    Const,
    FirstOnly,
    Function,
    Gathered,
    Items,
    LibraryObject,
    LossFunction,
    Many,
    Network,
    Nodes,
    Optimizer,
    Parameters,
    PartialCall,
    PerWorker,
    Qualified,
    Shard,
    Share,
    Union,
    Value,
)
from trainera.read.values.contents import first_share, holds_share, networks_in
from trainera.read.values.gathered import gathered_of, row_by_row
from trainera.read.values.join import SAME_ROLE

TENSORS = (Value, LibraryObject, Const)
"""What a tensor is that is no part of a batch."""
NETWORKS = ("torch.nn.", "torch.jit.ScriptModule", *names.ZOOS)
GRADIENT_HOOKS = {"register_hook", "register_post_accumulate_grad_hook"}


def same_role(one: str, other: str) -> str | None:
    """The name that stands for two classes of torch, one of which a script chooses as it runs."""
    if {one, other} <= drawing.TYPED:
        return one  # one of the processor, one of the GPU
    if one.startswith(names.OPTIMIZERS) and other.startswith(names.OPTIMIZERS):
        return "torch.optim.Optimizer"
    return None


SAME_ROLE.append(same_role)

PATCHES = Function | Class | Choice | Union | PartialCall | Network
"""What would do something else under a library's name."""
LOOKS = {
    *("parameters", "named_parameters", "state_dict", "buffers", "named_buffers", "modules"),
    "load_state_dict",
}
"""Methods of a loss function that leave it as it is."""


class Torch(Library):
    """Networks, losses, optimizers, loaders and gradients."""

    training_methods = frozenset({"backward", "step"})
    tensor_questions = QUESTIONS
    tensor_facts = FACTS
    first_changed = CHANGERS

    @cached_property
    def autograd(self) -> Autograd:
        return Autograd(self)

    @cached_property
    def layers(self) -> Layers:
        return Layers(self)

    @cached_property
    def loaders(self) -> Loaders:
        return Loaders(self)

    @cached_property
    def losses(self) -> Losses:
        return Losses(self)

    @cached_property
    def networks(self) -> Networks:
        return Networks(self)

    @cached_property
    def optimizers(self) -> Optimizers:
        return Optimizers(self)

    @cached_property
    def wrapping(self) -> Wrapping:
        return Wrapping(self)

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        if not name.startswith("torch."):
            return None
        last = name.rsplit(".", 1)[-1]
        if name in names.LOADERS:
            return self.loaders.make(node, frame)
        if name.startswith("torch.nn."):
            return self.layers.make(name, last, node, frame)
        if name.startswith(names.OPTIMIZERS):
            return self._from_optim(name, last, node, frame)
        if (
            name == "torch.utils.checkpoint.checkpoint"
            and frame.policy.inside_network
            and node.args
        ):
            return self.networks.checkpointed(node, frame)
        if name == "torch.autograd.grad" and self.path.open_loops:
            return self.autograd.graded_by_hand(node, frame)
        if name == "torch.autograd.Variable" and node.args:
            # Nothing but its argument, since torch 0.4.
            return self.machine.eval(node.args[0], frame)
        if name == "torch.compile":
            return self.machine.eval(node.args[0], frame) if node.args else PLAIN
        return None

    def _from_optim(self, name: str, last: str, node: ast.Call, frame: Frame) -> Value | None:
        if name == "torch.optim.swa_utils.AveragedModel":
            self.machine.calls.gathered_arguments(node, frame)
            return Network(frozenset({node}))
        if name.startswith(names.SCHEDULERS) or not last[:1].isupper():
            return None
        return self.optimizers.make(last, node, frame)

    def called(self, name: str, node: ast.Call, value: Value, frame: Frame) -> Value:
        free = type(value) in TENSORS and makes_parameter(name, node)
        return self.optimizers.set_free(node, frame) if free else value

    def call_value(self, callee: Value, node: ast.Call, frame: Frame) -> Value | None:
        if isinstance(callee, Network):
            return self.networks.forward(callee, node, frame)
        if isinstance(callee, LossFunction):
            positional, keywords = self.machine.calls.arguments(node, frame)
            return self.losses.apply(callee, [*positional, *keywords.values()], node, frame)
        return None

    def call_by_name(self, node: ast.Call, method: ast.Attribute, frame: Frame) -> Value | None:
        if method.attr == "backward":
            return self.autograd.backward(node, method, frame)
        return None

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        name = function.attr
        if name in ("append", "extend") and isinstance(function.value, ast.Subscript):
            self.optimizers.sorted_into_groups(node, function.value, frame)
        if name in GRADIENT_HOOKS and (frame.policy.watches_networks or isinstance(owner, Share)):
            self.autograd.hooked(node, frame)
        if isinstance(owner, Network):
            return self.networks.method(node, function, owner, frame)
        if isinstance(owner, Optimizer):
            return self.optimizers.method(node, name, owner, frame)
        if isinstance(owner, Parameters):
            return self.optimizers.method_of_parameters(node, function, owner, frame)
        if isinstance(owner, Class) and name == "apply" and frame.policy.inside_network:
            self.autograd.own_function(node, owner, frame)
        if isinstance(owner, LossFunction) and (name in MOVES or name in ("train", "eval")):
            return owner
        if isinstance(owner, LossFunction) and name == "forward":
            return self.call_value(owner, node, frame)
        if isinstance(owner, LossFunction) and name not in LOOKS:
            self.losses.altered(node, frame)
        return None

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        if isinstance(owner, Gathered) and owner.order and name in MOVES:
            return owner
        if name == "requires_grad_" and type(owner) in TENSORS:
            return self.optimizers.freed(node, frame)
        if name in ("children", "named_children", "modules"):
            self.layers.unseen(owner)
        if isinstance(owner, LibraryObject):
            if name in ("parameters", "named_parameters", "state_dict"):
                self.program.promoted.add(owner.origin)
                return Parameters(frozenset({owner.origin}))
            if name in (*MOVES, *names.SAME_MODEL):
                return owner
        if type(owner) is Value and name in ("state_dict", "load_state_dict", "named_parameters"):
            assert isinstance(node.func, ast.Attribute)
            place = node.func.value  # perhaps a network that was lost sight of
            self.notes.bare.mark(place, frame, "either")
        if name == "scale" and len(node.args) == 1:  # of a scaler of gradients
            value = self.machine.eval(node.args[0], frame)
            return value if isinstance(value, Share) else None
        return None

    def attribute(self, node: ast.Attribute, owner: Value, frame: Frame) -> Value | None:
        self.notes.bare.drop(node.value, frame)
        if isinstance(owner, Network):
            return self.networks.attribute(node, owner, frame)
        if isinstance(owner, Parameters) and node.attr == "grad" and frame.policy.watches_networks:
            return self.autograd.gradient_read(node, owner.models, frame)
        if isinstance(owner, LossFunction) and node.attr == "__dict__":
            self.losses.altered(node, frame)
        return None

    def item(self, node: ast.Subscript, owner: Value, frame: Frame) -> Value | None:
        return self.networks.item(node, owner, frame) if isinstance(owner, Network) else None

    def instance(self, cls: Class, bases: list[str], node: ast.Call, frame: Frame) -> Value | None:
        if any(base in names.LOADERS for base in bases):
            return self.loaders.make(node, frame, cls)
        optimizers = [base for base in bases if not base.startswith(names.SCHEDULERS)]
        if any(base.startswith(names.OPTIMIZERS) for base in optimizers):
            return self.optimizers.make("", node, frame)
        if not any(base.startswith(NETWORKS) for base in bases):
            return None
        if any("BatchNorm" in base for base in bases):
            self.notes.uses_statistics()
        if any(base.startswith(names.ZOOS) for base in bases):
            self.notes.hides_layers()
        return Network(frozenset({node}), cls)

    def unknown(
        self, name: str, node: ast.Call, arguments: list[Value], frame: Frame
    ) -> Value | None:
        parts = self.loaders.parts_of_dataset(name, arguments)
        if parts is not None:
            return parts
        models: Nodes = frozenset().union(
            *(networks_in(k) for k in arguments if isinstance(k, Parameters | Many | Items))
        )
        if models:
            return Parameters(models)
        if any(isinstance(value, FirstOnly) for value in arguments):
            return None
        if node in self.program.decisions.models:
            self.notes.hides_layers()
            outside = isinstance(self.machine.eval(node.func, frame), Qualified)
            others = () if outside else self.machine.libraries.unaccounted(node, frame)
            return Network(frozenset({node}), choices=(None, *others) if others else ())
        made = gathered_of(*arguments)
        if isinstance(made, Gathered | PerWorker):
            known = operation(name)
            return row_by_row(*arguments) if known is not None and known.keeps_rows else None
        made_in_network = frame.policy.inside_network and name.split(".")[0] not in names.NO_LAYERS
        if made_in_network or name.startswith(names.ZOOS):
            self.notes.hides_layers()
        return None

    def unaccounted(self, node: ast.Call, frame: Frame) -> tuple[Class, ...]:
        return self.networks.unaccounted(node, frame)

    def function_called(
        self, function: Function, node: ast.Call, value: Value, frame: Frame
    ) -> Value:
        if not isinstance(function.bound, Network) or not frame.policy.watches_networks:
            return value
        model, through = self.wrapping.goes_through(node, value, frame)
        return add_network(value, model or function.bound, node, bypass=not through)

    def statement_done(self, node: ast.stmt, frame: Frame) -> None:
        for wrapped, target in self.program.decisions.wraps:
            if wrapped is node:
                self.wrapping.rebind_wrapped(target, frame)

    def discarded(self, node: ast.Expr, value: Value, frame: Frame) -> None:
        call = node.value
        if (
            isinstance(value, Network)
            and not value.part
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name | ast.Attribute)
            and call.func.attr not in ("train", "eval")
        ):
            self.wrapping.carry(node, call.func.value, None, value, frame)

    def assigned(
        self, node: ast.stmt, target: ast.expr, expression: ast.expr, value: Value, frame: Frame
    ) -> None:
        self.wrapping.note_carrier(node, target, expression, value, frame)

    def attribute_set(
        self, target: ast.Attribute, owner: Value, value: Value, frame: Frame
    ) -> None:
        if isinstance(owner, LossFunction):
            self.losses.altered(target, frame)
        if isinstance(owner, Qualified) and isinstance(value, PATCHES):
            self.notes.trouble("weight", "library-changed", target, frame, frozenset())
        if target.attr == "requires_grad":
            self.optimizers.frees(target, owner, frame)
            if type(owner) in TENSORS and isinstance(target.value, ast.Name):
                free = self.optimizers.set_free(target.value, frame)
                self.machine.names.bind(target.value.id, free, frame)
        if isinstance(owner, Network) and not owner.part:
            self.wrapping.altered(target, owner, value, frame)
        if isinstance(owner, Network) and owner.cls is not None and frame.policy.inside_network:
            if isinstance(value, Share) and not isinstance(value, Shard):
                self.machine.writes.remembers(target, [value], frame)

    def item_set(self, target: ast.Subscript, value: Value, frame: Frame) -> None:
        if (
            frame.policy.inside_network
            and holds_share(value)
            and self.networks.is_buffer(target.value, frame)
        ):
            self.machine.writes.remembers(target, [first_share(value)], frame)

    def looped_over(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(value, Network):
            self.wrapping.through_wrapper(node, value, frame, "__iter__")

    def opaque(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(value, Network) and not value.part:
            self.wrapping.through_wrapper(node, value, frame, "")

    def given_away(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(value, Network):
            self.wrapping.through_wrapper(node, value, frame, "")

    def given_rows(
        self, callee: Value, node: ast.Call, arguments: list[Value], frame: Frame
    ) -> None:
        self.layers.unseen(callee)

    def saved(self, node: ast.expr, value: Value, frame: Frame) -> None:
        self.wrapping.saves_wrapper(node, value, frame)
