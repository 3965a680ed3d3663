"""Rows of a batch that are written to. Which rows those are must not depend on the slice."""

import ast

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import parts_of
from trainera.read.values import Gathered, Nodes, Shard, Share, Value
from trainera.read.values.contents import first_share, holds_share


class Writes(MachinePart):
    """Rows of a batch that are written to. Which rows those are must not depend on the slice."""

    def written(self, target: ast.Subscript, frame: Frame) -> None:
        """``x[…] = value``: all rows, or those of which a condition row by row holds."""
        owner = self.machine.eval(target.value, frame)
        if frame.policy.assumes_rows or not isinstance(owner, Shard) or owner.nested:
            return
        key = target.slice.elts[0] if isinstance(target.slice, ast.Tuple) else target.slice
        everything = isinstance(key, ast.Slice) and not (key.lower or key.upper or key.step)
        everything |= isinstance(key, ast.Constant) and key.value in (..., None)
        if not everything and not isinstance(self.machine.eval(key, frame), Shard):
            self._writes_rows(target, owner.loaders, frame)

    def filled(self, target: ast.Subscript, value: Value, frame: Frame) -> None:
        """``x[:, :8] = x.roll(1, 0)[:, :8]``: a slice has no room for rows of the whole batch."""
        if isinstance(value, Gathered) and value.rows and frame.policy.gathers:
            self.notes.trouble("weight", "rows-do-not-fit", target, frame, value.loaders)

    def written_one_by_one(
        self, node: ast.For | ast.AsyncFor, iterable: Value, frame: Frame
    ) -> None:
        """A loop over the rows of a batch that changes them: it would be given copies."""
        values = [node.iter]
        if isinstance(node.iter, ast.Call):
            values += node.iter.args
        given = [iterable, *(self.machine.eval(value, frame) for value in values[1:])]
        shards = [one for one in given if isinstance(one, Shard) and not one.nested]
        if frame.policy.inside_network and shards and shards[0].dim == 0:
            for part in (inner for statement in node.body for inner in parts_of(statement)):
                if _fills_own(part):
                    self.remembers(part, [shards[0]], frame)
        if frame.policy.assumes_rows or not shards:
            return
        names = {part.id for part in parts_of(node.target) if isinstance(part, ast.Name)}
        for part in (inner for statement in node.body for inner in parts_of(statement)):
            if _changes(part, names):
                self._writes_rows(part, shards[0].loaders, frame)

    def remembers(self, node: ast.AST, values: list[Value], frame: Frame) -> None:
        """A network that keeps figures of its batches is no longer the same on all workers."""
        shares = [value for value in values if isinstance(value, Share)]
        self.notes.trouble("network", "remembers", node, frame, shares[0].loaders)

    def leaks(self, node: ast.AST, target: ast.expr, value: Value, frame: Frame) -> None:
        """Inside a network: something of its batch is put where it outlives the call."""
        if not frame.policy.inside_network or not holds_share(value):
            return
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        function = frame.file.function_of(node)
        if not isinstance(root, ast.Name) or function is None or function.name == "__init__":
            return
        if not _is_made_in(function, root, target):
            self.remembers(node, [first_share(value)], frame)

    def _writes_rows(self, node: ast.AST, loaders: Nodes, frame: Frame) -> None:
        self.notes.trouble("weight", "rows-by-number", node, frame, loaders)


def _is_made_in(function: ast.FunctionDef, root: ast.Name, target: ast.expr) -> bool:
    """Whether what is written to is the function's own, or made anew by it."""
    parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    stored = [one for one in parts_of(function) if isinstance(getattr(one, "ctx", None), ast.Store)]
    if parameters[:1] == [root.id] == ["self"]:
        return any(isinstance(one, ast.Attribute) and _begins(target, one) for one in stored)
    shared = [one for one in parts_of(function) if isinstance(one, ast.Global | ast.Nonlocal)]
    if any(root.id in one.names for one in shared):
        return False
    if root.id in parameters:
        return function.name != "forward"  # which others call with what is theirs
    return any(isinstance(one, ast.Name) and one.id == root.id for one in stored)


def _begins(target: ast.expr, owner: ast.expr) -> bool:
    """Whether a target is something of that owner, such as ``self.a[0]`` of ``self.a``."""
    return f"{ast.unparse(target)}.".startswith(f"{ast.unparse(owner)}.") or ast.unparse(
        target
    ).startswith(f"{ast.unparse(owner)}[")


def _changes(node: ast.AST, names: set[str]) -> bool:
    """Whether something of these names is changed in place."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return isinstance(node.value, ast.Name) and node.value.id in names
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id in names
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        method, owner = node.func.attr, node.func.value
        in_place = method.endswith("_") and not method.startswith("_")
        return in_place and isinstance(owner, ast.Name) and owner.id in names
    return False


def _fills_own(node: ast.AST) -> bool:
    """``self.queue[i] = …``"""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value).startswith("self.")
    )
