"""Where networks may be wrapped, and what then goes through or past the wrapper."""

import ast
from dataclasses import replace

from trainera.read.facts import Carrier
from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch import names
from trainera.read.libraries.torch.names import SAME_MODEL
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.ops.parts import MOVES
from trainera.read.source.file import SourceFile
from trainera.read.source.lifetimes import is_main_guard
from trainera.read.source.syntax import entry, is_entry
from trainera.read.values import Items, Network, Object, Value
from trainera.read.values.contents import flat, holds_share

UNCALLED = {"ModuleList", "ModuleDict"}
"""Containers without a `forward` of their own: their networks are called one by one."""


class Wrapping(TorchPart):
    """Where networks may be wrapped, and what then goes through or past the wrapper."""

    def saves_wrapper(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """A network inside of a variable is saved: its wrapper would be saved with it."""
        inside = [inner for inner in flat(value) if isinstance(inner, Network) and inner.wrapped]
        if inside and isinstance(node, ast.Name | ast.Attribute) and not isinstance(value, Network):
            self.notes.trouble("access", "saved-inside", node, frame, frozenset())

    def altered(self, target: ast.Attribute, owner: Network, value: Value, frame: Frame) -> None:
        """Something is set on the network: through its wrapper, and no new layer once wrapped."""
        self.through_wrapper(target.value, owner, frame, target.attr)
        if isinstance(value, Network) and owner.wrapped is not False:
            self.notes.trouble("wrap", "layer-replaced", target, frame, frozenset())

    def through_wrapper(self, node: ast.expr, owner: Network, frame: Frame, name: str) -> None:
        """Notes that something is asked of the network that only the bare one can answer."""
        self.notes.bare.drop(node, frame)
        self.notes.plain_models.drop(node, frame)
        if owner.part or owner.parallel or name in names.WRAPPER_OK:
            return  # the wrapper takes DataParallel's place, keys and all
        if owner.wrapped is False:
            self.notes.plain_models.add(node, frame)
            return
        how = "module" if owner.wrapped else "either"
        self.notes.bare.mark(node, frame, how)

    def goes_through(
        self, node: ast.Call, result: Value, frame: Frame
    ) -> tuple[Network | None, bool]:
        """A step that is a method of the network: it is called through the wrapper."""
        if not isinstance(node.func, ast.Attribute) or self.path.mode == "eval":
            return None, False
        model = self.machine.eval(node.func.value, frame)
        if not isinstance(model, Network) or model.part or not holds_share(result):
            return None, False
        self.torch.autograd.begins(model, node, frame)
        if model.wrapped is False:
            return model, False
        self.notes.bare.drop(node.func.value, frame)
        self.notes.through.mark(node.func.value, frame, node.func.attr)
        return replace(model, wrapped=True), True

    def note_carrier(
        self, node: ast.stmt, target: ast.expr, expression: ast.expr, value: Value, frame: Frame
    ) -> None:
        """Remembers where a variable receives a network from a call."""
        if (
            isinstance(value, Network)
            and not value.part
            and isinstance(expression, ast.Call | ast.IfExp)
        ):
            if isinstance(target, ast.Name | ast.Attribute) or is_entry(target):
                self.carry(node, target, expression, value, frame)
        elif isinstance(value, Items) and isinstance(target, ast.Tuple):
            for part, item in zip(target.elts, value.items, strict=False):
                if isinstance(item, Network) and isinstance(part, ast.Name | ast.Attribute):
                    self.carry(node, part, None, item, frame)

    def carry(
        self,
        node: ast.stmt,
        target: ast.expr,
        expression: ast.expr | None,
        value: Network,
        frame: Frame,
    ) -> None:
        """Notes a place where the network could be wrapped."""
        above: ast.AST | None = frame.file.parents.get(node)
        conditional = False
        while above is not None and not isinstance(above, ast.FunctionDef | ast.ClassDef):
            branch = isinstance(above, ast.If | ast.Try | ast.For | ast.While)
            conditional |= branch and not (isinstance(above, ast.If) and is_main_guard(above.test))
            above = frame.file.parents.get(above)
        self.notes.carrier(
            Carrier(
                node=node,
                target=target,
                value=expression,
                file=frame.file,
                models=value.origins,
                conditional=conditional,
                uncalled=value.layer in UNCALLED,
                repeated=self.path.loop_depth > 0,
                also=_other_name(node, target, expression, frame.file),
            )
        )

    def rebind_wrapped(self, target: ast.expr, frame: Frame) -> None:
        if frame.env is None:
            return
        value = self.machine.eval(target, frame)
        if not isinstance(value, Network):
            return
        if isinstance(target, ast.Attribute):
            owner = self.machine.eval(target.value, frame)
            if isinstance(owner, Object | Network) and owner.cls is not None:
                # Attributes are followed without regard to order: wrapped once is wrapped.
                self.program.wrapped_attributes.add((owner.cls.node, target.attr))
                self.machine.objects.set_attribute(owner.cls, target.attr, value)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
            owner = self.machine.eval(target.value.value, frame)
            if isinstance(owner, Object):
                self.program.wrapped_attributes.add((owner.cls.node, entry(target)))
                self.machine.objects.set_attribute(owner.cls, entry(target), value)
        else:
            self.machine.assignments.assign(target, replace(value, wrapped=True), frame)


def _other_name(
    node: ast.stmt, target: ast.expr, value: ast.expr | None, file: SourceFile
) -> ast.Name | None:
    """The name that a network had and keeps, if anybody asks for it by that later on."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    other = value.func.value
    if value.func.attr not in MOVES | SAME_MODEL or not isinstance(other, ast.Name):
        return None
    if not isinstance(target, ast.Name) or target.id == other.id:
        return None
    asked = any(
        isinstance(part, ast.Name)
        and part.id == other.id
        and (part.lineno > (node.end_lineno or 0) or _in_function(part, file, node))
        for part in file.nodes
    )
    return other if asked else None


def _in_function(part: ast.AST, file: SourceFile, node: ast.stmt) -> bool:
    """Whether it stands in a function that a statement does not stand in."""
    above: ast.AST | None = part
    while above is not None and not isinstance(above, ast.FunctionDef):
        above = file.parents.get(above)
    return above is not None and not file.within(node, above)
