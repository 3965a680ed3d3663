"""Optimizers, and the parameters that they train."""

import ast

from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.values import NOBODY, PLAIN, Items, Network, Optimizer, Parameters, Share, Value
from trainera.read.values.contents import networks_in, put_together, understood

SAME_EVERYWHERE = {"zero_grad", "train", "eval"}
"""Methods of an optimizer that do the same on every worker: nothing has to change."""


class Optimizers(TorchPart):
    """Optimizers, and the parameters that they train."""

    def frees(self, node: ast.AST, owner: Value, frame: Frame) -> None:
        """Parameters are frozen or freed: of these networks or, if it cannot be told, of all."""
        if isinstance(owner, Share) or not frame.policy.watches_networks:
            return  # gradients with respect to the batch itself
        for origin in networks_in(owner) or frozenset(self.program.used):
            self.notes.freeze(origin, node, origin in self.program.used)

    def sorted_into_groups(self, node: ast.Call, place: ast.Subscript, frame: Frame) -> None:
        """Parameters are put into ``groups[kind]["params"]``, which an optimizer is to be given."""
        root: ast.expr = place
        while isinstance(root, ast.Subscript):
            root = root.value
        given = [self.machine.eval(argument, frame) for argument in node.args]
        if not isinstance(root, ast.Name) or not any(
            isinstance(value, Parameters) for value in given
        ):
            return
        held = networks_in(self.machine.names.lookup(root.id, frame)) | networks_in(
            Items(tuple(given))
        )
        self.machine.names.bind(root.id, Parameters(held), frame)

    def method(self, node: ast.Call, name: str, owner: Optimizer, frame: Frame) -> Value | None:
        """A method of an optimizer; None leaves it to what is done with unknown calls."""
        if name in SAME_EVERYWHERE:
            return PLAIN
        if name == "step" and (node.args or node.keywords):
            self.notes.trouble("optimizer", "closure", node, frame, frozenset())
            return PLAIN
        if name == "add_param_group":
            positional, keywords = self.machine.calls.arguments(node, frame)
            added = networks_in(Items((*positional, *keywords.values())))
            trained = self.notes.optimizers.get(owner.origin, frame) or NOBODY
            self.notes.optimizers.set(owner.origin, frame, trained | added)
            return PLAIN
        return None

    def method_of_parameters(
        self, node: ast.Call, function: ast.Attribute, owner: Parameters, frame: Frame
    ) -> Value:
        """A method of parameters, or of a list of them."""
        if function.attr in ("append", "extend", "insert") and node.args:
            more = self.machine.eval(node.args[-1], frame)
            self.machine.assignments.assign(function.value, put_together(owner, more), frame)
            return PLAIN
        self.machine.calls.gathered_arguments(node, frame)
        if function.attr == "requires_grad_":
            self.frees(node, owner, frame)
        return owner

    def make(self, last: str, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self.machine.calls.arguments(node, frame)
        self.notes.optimizers.set(
            node, frame, networks_in(Items((*positional, *keywords.values())))
        )
        given = positional[0] if positional else keywords.get("params", PLAIN)
        self.notes.unclear.drop(node, frame)
        if not understood(given):
            self.notes.unclear.mark(node, frame, "")
        if last == "LBFGS":
            self.notes.trouble("optimizer", "lbfgs", node, frame, frozenset())
        return Optimizer(node)

    def set_free(self, node: ast.expr, frame: Frame) -> Value:
        """A tensor with gradients of its own: a part of a network, or free of any."""
        own = (frame.env or {}).get("self")
        if not frame.policy.watches_networks or isinstance(own, Network):
            return PLAIN
        self.notes.free.mark(node, frame, "")
        return Parameters(frozenset({node}))

    def freed(self, node: ast.Call, frame: Frame) -> Value:
        """``t.requires_grad_()``: the same tensor, which has gradients from now on."""
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value is False:
            return PLAIN
        made = self.set_free(node, frame)
        assert isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name | ast.Attribute):
            self.machine.assignments.assign(node.func.value, made, frame)
        return made
