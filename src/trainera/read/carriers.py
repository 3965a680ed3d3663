"""Where networks are kept: the places at which they may be wrapped."""

import ast
from dataclasses import replace

from trainera.read.core import Frame
from trainera.read.facts import Carrier
from trainera.read.keeping import Keeping
from trainera.read.kinds import Bunch, Instance, Kind, Model
from trainera.read.lifetimes import is_main_guard
from trainera.read.source import SourceFile
from trainera.read.tables import MOVES, SAME_MODEL


class Carriers(Keeping):
    """The part of the analyser that remembers which variables hold networks."""

    def assign(
        self, target: ast.expr, kind: Kind, frame: Frame, value: ast.expr | None = None
    ) -> None:
        raise AssertionError

    def note_carrier(
        self, node: ast.stmt, target: ast.expr, value: ast.expr, kind: Kind, frame: Frame
    ) -> None:
        """Remembers where a variable receives a network from a call."""
        if isinstance(kind, Model) and not kind.part and isinstance(value, ast.Call | ast.IfExp):
            if isinstance(target, ast.Name | ast.Attribute) or is_entry(target):
                self.carry(node, target, value, kind, frame)
        elif isinstance(kind, Bunch) and isinstance(target, ast.Tuple):
            for part, item in zip(target.elts, kind.items, strict=False):
                if isinstance(item, Model) and isinstance(part, ast.Name | ast.Attribute):
                    self.carry(node, part, None, item, frame)

    def carry(
        self,
        node: ast.stmt,
        target: ast.expr,
        value: ast.expr | None,
        kind: Model,
        frame: Frame,
    ) -> None:
        """Notes a place where the network could be wrapped."""
        above: ast.AST | None = frame.file.parents.get(node)
        conditional = False
        while above is not None and not isinstance(above, ast.FunctionDef | ast.ClassDef):
            branch = isinstance(above, ast.If | ast.Try | ast.For | ast.While)
            conditional |= branch and not (isinstance(above, ast.If) and is_main_guard(above.test))
            above = frame.file.parents.get(above)
        self.facts.carriers.append(
            Carrier(
                node=node,
                target=target,
                value=value,
                file=frame.file,
                models=kind.origins,
                conditional=conditional,
                repeated=self.loop_depth > 0,
                also=_other_name(node, target, value, frame.file),
            )
        )

    def rebind_wrapped(self, target: ast.expr, frame: Frame) -> None:
        if frame.env is None:
            return
        kind = self.eval(target, frame)
        if not isinstance(kind, Model):
            return
        if isinstance(target, ast.Attribute):
            owner = self.eval(target.value, frame)
            if isinstance(owner, Instance | Model) and owner.cls is not None:
                # Attributes are followed without regard to order: wrapped once is wrapped.
                self.wrapped_attributes.add((owner.cls.node, target.attr))
                self.set_attribute(owner.cls, target.attr, kind)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
            owner = self.eval(target.value.value, frame)
            if isinstance(owner, Instance):
                self.wrapped_attributes.add((owner.cls.node, entry(target)))
                self.set_attribute(owner.cls, entry(target), kind)
        else:
            self.assign(target, replace(kind, wrapped=True), frame)


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


def is_entry(target: ast.expr) -> bool:
    """Whether something is put into a dictionary under a name that stands there."""
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and isinstance(target.slice.value, str)
        and isinstance(target.value, ast.Name | ast.Attribute)
    )


def entry(target: ast.Subscript) -> str:
    """What an entry of an object's dictionary is called among its attributes."""
    assert isinstance(target.value, ast.Attribute)
    return f"{target.value.attr}[{ast.unparse(target.slice)}]"
