"""Calls of methods, by what they are called on."""

import ast
from dataclasses import replace

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.libraries import drawing, effects
from trainera.read.libraries.meters import is_meter
from trainera.read.libraries.torch import names
from trainera.read.ops import tables, tensors
from trainera.read.ops.mixing import SCATTERS
from trainera.read.ops.tables import keeps_rows
from trainera.read.values import (
    PLAIN,
    BatchIterable,
    Class,
    Const,
    Dictionary,
    FirstOnly,
    Function,
    Gathered,
    HashOrdered,
    Items,
    LibraryObject,
    LossFunction,
    Many,
    Network,
    Object,
    Optimizer,
    Parameters,
    PerWorker,
    Qualified,
    Share,
    Value,
)
from trainera.read.values.contents import (
    first_share,
    has_parameters,
    holds_share,
    networks_in,
    put_together,
)
from trainera.read.values.gathered import aligned_like, gathered_of, is_aligned, sized
from trainera.read.values.join import by_any_name, element, join


class Methods(Part):
    """Calls of methods, by what they are called on."""

    def call(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        name = function.attr
        if name in drawing.IN_PLACE_DRAWS and self.path.open_loops and not isinstance(owner, Share):
            if all(keyword.arg != "generator" for keyword in node.keywords):
                return self.machine.randomness.drawn_in_place(name, node, frame)
        if name in ("append", "extend") and isinstance(function.value, ast.Subscript):
            self.machine.optimizers.sorted_into_groups(node, function.value, frame)
        if name in ("register_hook", "register_post_accumulate_grad_hook") and not frame.lenient:
            self.machine.autograd.hooked(node, frame)
        match owner:
            case Share():
                return self.machine.tensors.method(node, function, owner, frame)
            case Network():
                return self.machine.networks.method(node, function, owner, frame)
            case BatchIterable() if name == "__next__":
                return element(owner)
            case PerWorker() if "random" in owner.what:
                self.machine.calls.gathered_arguments(node, frame)
                return owner
            case FirstOnly():
                self.machine.agreement.handed_over(
                    node, self.machine.calls.gathered_arguments(node, frame), frame
                )
                made = self.notes.facts.once.get((frame.context, function.value))
                if made is not None and made.what == "os.popen" and name.startswith("read"):
                    self.machine.agreement.agreed(
                        node, PerWorker("what one worker was told"), frame
                    )
                    return PLAIN
                return owner
            case Optimizer() if name == "step" and (node.args or node.keywords):
                self.notes.trouble(
                    "optimizer",
                    node,
                    frame,
                    frozenset(),
                    what="the optimizer's step is given a closure",
                    why="it would evaluate the loss on one worker's share",
                    do="compute loss and gradients before step() and call it without arguments",
                )
                return PLAIN
            case Optimizer() if name == "add_param_group":
                positional, keywords = self.machine.calls.arguments(node, frame)
                added = networks_in(Items((*positional, *keywords.values())))
                self.notes.facts.optimizers[owner.origin] = (
                    self.notes.facts.optimizers[owner.origin] | added
                )
                return PLAIN
            case Parameters() if name in ("append", "extend", "insert") and node.args:
                more = self.machine.eval(node.args[-1], frame)
                self.machine.assignments.assign(function.value, put_together(owner, more), frame)
                return PLAIN
            case Parameters():
                self.machine.calls.gathered_arguments(node, frame)
                if name == "requires_grad_":
                    self.machine.optimizers.frees(node, owner, frame)
                return owner
            case LossFunction() if name in tables.MOVES:
                return owner
            case Dictionary() if name in ("items", "values", "keys"):
                values = element(Items(tuple(value for _, value in owner.items)))
                if name == "items":
                    return Many(Items((PLAIN, values)))
                return Many(values) if name == "values" else PLAIN
            case Dictionary() if name == "get" and node.args:
                key = self.machine.eval(node.args[0], frame)
                if isinstance(key, Const) and isinstance(key.value, str):
                    return owner.get(key.value) or PLAIN
                others = [self.machine.eval(argument, frame) for argument in node.args[1:]]
                values = element(Items((*(value for _, value in owner.items), *others)))
                return by_any_name(values)
            case Many() if name in ("items", "values") and not node.args:
                values = owner.element
                return Many(Items((PLAIN, values))) if name == "items" else owner
            case Items() | Many() if name in ("append", "extend", "insert", "add"):
                return self._appended(node, function, owner, frame)
            case Qualified() | Object() | Class() | Function():
                return None
            case LibraryObject() | Value():
                return self._of_plain(node, name, owner, frame)
        return None

    def _appended(
        self, node: ast.Call, function: ast.Attribute, owner: Items | Many, frame: Frame
    ) -> Value:
        """A list grows. One that lives for a batch may hold shares; others hold wholes."""
        loop = self.path.loop
        values = [self.machine.eval(argument, frame) for argument in node.args]
        if not values:
            return PLAIN
        many = function.attr == "extend" and isinstance(values[-1], Items | Many | Parameters)
        value = element(values[-1]) if many else values[-1]
        outlives = not frame.lenient and (loop is None or owner.born is not loop)
        if outlives and (holds_share(value) or self.machine.objects.of_a_batch(value)):
            value = self.machine.calls.gathered_arguments(node, frame)[-1]
        if has_parameters(owner) and isinstance(function.value, ast.Name):
            self.machine.names.bind(function.value.id, put_together(owner, value), frame)
        elif isinstance(function.value, ast.Name) and value != PLAIN:
            if owner != Items((), owner.born):
                value = join(element(owner), value)
            self.machine.names.bind(function.value.id, Many(value, owner.born), frame)
        return PLAIN

    def _of_plain(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        key = (frame.context, node)
        self.notes.facts.once.pop(key, None)
        if type(owner) not in (
            Value,
            LibraryObject,
            Const,
            PerWorker,
            Many,
            Items,
            Gathered,
            HashOrdered,
        ):
            return None
        if isinstance(owner, HashOrdered):
            made = self.machine.sets.method(node, name, frame)
            if made is not None:
                return made
        if not isinstance(owner, HashOrdered):
            self.machine.sets.arguments_in_order(name, node, frame)
        if isinstance(owner, Gathered) and owner.order and name in tables.MOVES:
            return owner
        if name == "requires_grad_" and type(owner) in (Value, LibraryObject, Const):
            return self.machine.optimizers.freed(node, frame)
        if name in ("children", "named_children", "modules"):
            self.machine.layers.unseen(owner)
        if isinstance(owner, LibraryObject):
            drawn = self.machine.randomness.drawn_by(owner, name, node, frame)
            if drawn is not None:
                return drawn
            if name in ("parameters", "named_parameters", "state_dict"):
                self.program.promoted.add(owner.origin)
                return Parameters(frozenset({owner.origin}))
            if name in (*tables.MOVES, *names.SAME_MODEL):
                return owner
        if type(owner) is Value and name in ("state_dict", "load_state_dict", "named_parameters"):
            assert isinstance(node.func, ast.Attribute)
            place = node.func.value  # perhaps a network that was lost sight of
            self.notes.facts.bare[frame.context, place] = self.notes.spot(place, frame, "either")
        if name in ("seed", "manual_seed") and not frame.lenient:
            if not node.args and not node.keywords:
                return self.machine.randomness.by_chance(node, frame)
            self.machine.randomness.agreed_arguments(node, frame)
            return owner
        if name == "scale" and len(node.args) == 1:
            value = self.machine.eval(node.args[0], frame)
            if isinstance(value, Share):
                return value
        if name == "extractall" and not frame.lenient:
            self.machine.calls.gathered_arguments(node, frame)
            self.notes.facts.in_turn[key] = self.notes.spot(node, frame, name)
            self.path.together()
            return PLAIN
        opens = name == "open" and bool(node.args) and "r" not in ast.unparse(node.args[0])
        moves = isinstance(owner, LibraryObject) and owner.name.startswith("pathlib.")
        opens = opens or (moves and name in ("rename", "replace"))
        if (name in effects.ONCE_METHODS or opens) and not frame.lenient:
            self.machine.calls.gathered_arguments(node, frame)
            self.notes.facts.once[key] = self.notes.spot(node, frame, name)
            self.path.together()
            return FirstOnly()
        if name in effects.FILE_METHODS and not node.args:
            return PerWorker("the file system")
        if name.endswith("_") and not name.startswith("_") and not frame.lenient:
            self.machine.tensors.changed_to_rows(node, name, frame)
        if frame.lenient:
            positional, keywords = self.machine.calls.arguments(node, frame)
            values = [*positional, *keywords.values()]
            if any(isinstance(value, Share) for value in values):
                meter = isinstance(owner, LibraryObject) and is_meter(owner.name)
                self.machine.layers.unseen(owner)
                if meter or (name.endswith("_") and _is_of_self(node.func)):
                    self.machine.writes.remembers(node, values, frame)
                elif name.rstrip("_") in SCATTERS:
                    self.machine.operators.combines(
                        node, first_share(Items(tuple(values))).loaders, frame
                    )
                return self.machine.unknown.assumed(node, values, frame)
            return PLAIN
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = self.machine.calls.gathered_arguments(node, frame)
        self.machine.agreement.handed_over(node, values, frame)
        result = tensors.reduced(name, sized(gathered_of(owner, *values)), positional, keywords)
        result = aligned_like(result, is_aligned(owner) and keeps_rows(name))
        if isinstance(result, Gathered) and name in tables.ENDS_GRADIENT:
            return replace(result, rows=result.rows and name != "item", models=frozenset())
        return result


def _is_of_self(node: ast.expr) -> bool:
    """Whether a method is called on something that `self` holds."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "self"
