"""When gradients are computed, from which calls of networks, and who computes them."""

import ast
from dataclasses import replace

from trainera.read.facts import CURRENT, Backward, Spot, Weighed
from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.source.linear import is_linear
from trainera.read.source.syntax import is_factor, keyword_of
from trainera.read.values import (
    PLAIN,
    Class,
    Const,
    Dictionary,
    Function,
    Gathered,
    Items,
    Many,
    Mean,
    Network,
    Nodes,
    Shard,
    Share,
    Sum,
    Value,
)
from trainera.read.values.contents import flat, holds_share
from trainera.read.values.gathered import gathered_of

GRAD_ARGUMENTS = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")


class Autograd(TorchPart):
    """When gradients are computed, from which calls of networks, and who computes them."""

    def gradient_read(self, node: ast.Attribute, models: Nodes, frame: Frame) -> Value:
        """The script looks at the gradient of a parameter: it must be one that is averaged."""
        spot = Spot(node=node, file=frame.file, what=ast.unparse(node))
        self.notes.grads.set(node, frame, (spot, models))
        return PLAIN

    def begins(self, model: Network, node: ast.Call, frame: Frame) -> None:
        """A network is given a batch: it is as it will be trained."""
        for origin in model.origins:
            self.notes.first_use(origin)
            self.program.used.add(origin)
        if self.torch.layers.may_normalise(model):
            self.notes.normalises(model.origins - self.program.evaluated)
        calls = frozenset((origin, node) for origin in model.origins)
        self.notes.step(node, frame, calls, backward=False)

    def given_the_same(
        self, model: Network, node: ast.Call, values: list[Value], frame: Frame
    ) -> None:
        """Batch statistics of such input are each worker's own, and those of all would be wrong."""
        self.notes.alike.drop(node.func, frame)
        self.notes.unlike.drop(node.func, frame)
        inside = bool(self.path.open_loops) and frame.policy.watches_networks and not model.part
        if inside and self.path.mode != "eval" and not any(holds_share(value) for value in values):
            self.notes.alike.mark(node.func, frame, "")
        elif inside and self.path.mode != "eval":
            self.notes.unlike.add(node.func, frame)

    def by_every_worker(
        self, model: Network, node: ast.Call, values: list[Value], frame: Frame
    ) -> Value:
        """What is the same on every worker is not shared out: each computes all of it."""
        value = gathered_of(*values)
        known = all(isinstance(one, Gathered | Const) for one in flat(Items(tuple(values))))
        if (
            not isinstance(value, Gathered)
            or not known
            or not frame.policy.watches_networks
            or self.path.mode == "eval"
        ):
            return value
        if not self.path.open_loops or not self.torch.layers.learns(model):
            return value
        self.begins(model, node, frame)
        through = model.wrapped is True and not model.part
        calls = frozenset((origin, through, node) for origin in model.origins)
        return replace(value, rows=True, models=value.models | calls)

    def drops_by_chance(self, node: ast.AST, values: list[Value], frame: Frame) -> None:
        """A network is given the whole batch: what it draws, each worker draws for itself."""
        dropout = any(b"ropout" in file.source for file in self.program.files.values())
        chance = dropout or self.notes.facts.hidden
        if (
            not chance
            or not frame.policy.watches_networks
            or self.path.mode == "eval"
            or not self.path.open_loops
        ):
            return
        self.notes.trouble(
            "network",
            "same-with-dropout",
            node,
            frame,
            frozenset().union(*(k.loaders for k in values if isinstance(k, Gathered | Share))),
        )

    def backward(self, node: ast.Call, function: ast.Attribute, frame: Frame) -> Value:
        expression = function.value
        if (
            isinstance(expression, ast.Call)
            and isinstance(expression.func, ast.Attribute)
            and expression.func.attr == "scale"
            and len(expression.args) == 1
        ):
            expression = expression.args[0]
        value = self.machine.eval(expression, frame)
        loop = self.path.open_loops[-1] if self.path.open_loops else None
        text = CURRENT
        if isinstance(value, Share):
            text = self.machine.loader_names.text(value.loaders, frame) or text
        if loop is not None:
            loop.training = True
            loop.backwards.add(node)
        if isinstance(value, Share | Gathered):
            called = {call.func for _, _, call in value.models if isinstance(call, ast.Call)}
            if any(function in called for _, function in self.notes.facts.alike):
                self.drops_by_chance(node, [value], frame)
            calls = frozenset((origin, call) for origin, _, call in value.models)
            self.notes.step(node, frame, calls, backward=True)
        self.notes.backwards.set(
            node,
            frame,
            Backward(
                node=node,
                value=expression,
                file=frame.file,
                kind=value,
                text=text,
                loop=loop.node if loop else None,
            ),
        )
        return PLAIN

    def own_function(self, node: ast.Call, cls: Class, frame: Frame) -> None:
        """An operation of the script's with a way back of its own.

        The gradients of rows that it is given there are larger by the number of workers, which
        makes no difference if it is linear in them.
        """
        back = self.machine.objects.attribute(cls, "backward")
        if "torch.autograd.Function" not in self.machine.objects.base_names(cls):
            return
        code = back.node if isinstance(back, Function) else None
        if not isinstance(code, ast.FunctionDef) or not is_linear(code):
            self.notes.trouble("network", "own-gradient", node, frame, frozenset())

    def hooked(self, node: ast.Call, frame: Frame) -> None:
        self.notes.trouble("network", "gradient-hook", node, frame, frozenset())

    def graded_by_hand(self, node: ast.Call, frame: Frame) -> Value:
        """`torch.autograd.grad`: with respect to samples, each worker computes those of its own."""
        positional, keywords = self.machine.calls.arguments(node, frame)
        given = dict(zip(GRAD_ARGUMENTS, positional, strict=False)) | keywords
        expression = node.args[0] if node.args else keyword_of(node, "outputs")
        inputs = given.get("inputs", PLAIN)
        rows = [value for value in flat(inputs) if isinstance(value, Shard)]
        outputs = given.get("outputs", PLAIN)
        if expression is not None and rows and all(map(is_rows, flat(inputs))):
            if isinstance(outputs, Share) and self._adds_up(expression, outputs, frame):
                again = given.get("create_graph", Const(False))
                once = isinstance(again, Const) and not again.value
                models = frozenset() if once else outputs.models
                return Items(tuple(replace(row, models=models) for row in rows))
        self.notes.trouble("weight", "gradients-by-hand", node, frame, frozenset())
        return PLAIN

    def _adds_up(self, value: ast.expr, outputs: Share, frame: Frame) -> bool:
        """Whether its gradient for a sample is that of the whole batch's, or was made so."""
        self.notes.weighed.drop(value, frame)
        self.notes.escapes.drop(value, frame)
        text = (
            self.machine.loader_names.text(outputs.loaders, frame)
            if isinstance(outputs, Mean)
            else None
        )
        if text is not None:
            template = f"{'{}' if is_factor(value) else '({})'} * {text}.own_fraction"
            self.notes.weighed.set(
                value, frame, Weighed(node=value, file=frame.file, template=template)
            )
            return True
        return isinstance(outputs, Sum) or is_rows(outputs)


def add_network(value: Value, model: Network, call: ast.AST, *, bypass: bool) -> Value:
    """The value, computed with a network, through its wrapper or past it."""
    if isinstance(value, Items):
        return Items(tuple(add_network(item, model, call, bypass=bypass) for item in value.items))
    if isinstance(value, Dictionary):
        pairs = ((key, add_network(item, model, call, bypass=bypass)) for key, item in value.items)
        return replace(value, items=tuple(pairs))
    if isinstance(value, Many):
        return Many(add_network(value.element, model, call, bypass=bypass))
    if isinstance(value, Share):
        through = model.wrapped is True and not bypass
        return replace(value, models=value.models | {(o, through, call) for o in model.origins})
    return value


def is_rows(value: Value) -> bool:
    """Whether it is a tensor of a slice's samples."""
    return isinstance(value, Shard) and value.dim == 0 and not value.nested and not value.ragged
