"""Containers have several names: what is put in by one of them is found by the others.

Values are immutable, and a container is followed by its name: `cfg["k"] = v` binds `cfg` to
another dictionary. But `other = cfg`, a function that is given `cfg`, an attribute or an item that
holds it, stand for the same one. So every container remembers where it was made (`made_at`), and
what is put into it is remembered by that. Whoever looks at it by another name gets what it held,
joined with what may have been put in. By no name (`self.table["k"] = v`, `rows.sort()`) is another
name, too.

Tensors that begin as zeros are known to be zero as long as nothing was done to them that might
change them, or give them a name that is not followed.
"""

import ast
from dataclasses import replace
from functools import reduce

from trainera.read.interpret.gathering import CHANGES, TAKES_OUT
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame, Holder
from trainera.read.values import PLAIN, Const, Dictionary, Items, Many, Record, Value
from trainera.read.values.base import Origins, changed
from trainera.read.values.contents import flat
from trainera.read.values.join import element, join, perhaps

ADDS = {"append", "extend", "insert", "add", "appendleft", "extendleft", "__setitem__"}
CHANGERS = {
    *CHANGES,
    *TAKES_OUT,
    *ADDS,
    "rotate",
    "move_to_end",
    "__delitem__",
}
"""Methods of containers that change them."""
ANY = Ellipsis
"""A key that is not known, or any place in a list."""


class Heap(MachinePart):
    """What was put into containers, by where they were made."""

    def seen(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        """A value that an expression gives, with what may have been put into it elsewhere."""
        if getattr(value, "made_at", None) == frozenset({(frame.home, node)}):
            return value  # it has just been made
        if isinstance(value, Const):
            touched = value.made_at and self._put_into(value.made_at, _holder(node, frame))
            return PLAIN if touched else value
        if not isinstance(value, Items | Many | Dictionary) or isinstance(value, Record):
            return value
        if not value.made_at or isinstance(node, ast.BinOp):
            if isinstance(node, ast.Tuple):
                return value
            return replace(value, made_at=frozenset({(frame.home, node)}))
        put = self._put_into(value.made_at, _holder(node, frame))
        return changed(_with(value, put), maybe_none=value.maybe_none) if put else value

    def put(
        self, owner: Value, target: ast.expr, key: object, given: list[Value], frame: Frame
    ) -> None:
        """Something is put into what `target` stands for, or what is in it moves to other places.

        If the target is a name, who changes it binds that name to what it is from now on.
        """
        self._note(owner, (key, _holder(target, frame)), given)

    def put_unnamed(self, owner: Value, key: object, given: list[Value], frame: Frame) -> None:
        """The same where no name is bound to what it is from now on."""
        self._note(owner, (key, None), given)

    def _note(self, owner: Value, place: tuple[object, Holder], given: list[Value]) -> None:
        for origin in getattr(owner, "made_at", ()):
            known = self.program.puts.setdefault(origin, {})
            old = known.get(place)
            new = reduce(join, [*given] if old is None else [old, *given]) if given else old
            if place not in known or new != old:
                known[place] = new
                self.program.changed = True
                self.program.learned += 1

    def by_method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> None:
        """A method is called that may change a container."""
        name, target = function.attr, function.value
        if isinstance(owner, Const):
            asked = name in self.machine.libraries.tensor_questions
            if not asked and not isinstance(target, ast.Call):
                self.put_unnamed(owner, ANY, [], frame)
            return
        if not isinstance(owner, Items | Many | Dictionary) or name not in CHANGERS:
            return
        whole = self.machine.gathering.as_noted
        positional = [whole(argument, frame) for argument in node.args]
        if isinstance(owner, Dictionary):
            keywords = [(word.arg, whole(word.value, frame)) for word in node.keywords]
            self._updated(owner, name, positional, keywords, frame)
            return
        last = positional[-1:] if name in ADDS else []
        given = [element(value) if name.startswith("extend") else value for value in last]
        if name in ADDS and isinstance(target, ast.Name):
            self.put(owner, target, ANY, given, frame)
        else:
            self.put_unnamed(owner, ANY, given, frame)

    def _updated(
        self,
        owner: Dictionary,
        name: str,
        positional: list[Value],
        keywords: list[tuple[str | None, Value]],
        frame: Frame,
    ) -> None:
        """``cfg.update(more, lr=0.1)``, ``cfg.setdefault("lr", 0.1)``"""
        if name in ("setdefault", "__setitem__") and len(positional) == 2:
            self.put_unnamed(owner, key_of(positional[0]), positional[1:], frame)
        if name != "update":
            return
        for word, value in [*((None, value) for value in positional), *keywords]:
            if word is not None:
                self.put_unnamed(owner, word, [value], frame)
            elif isinstance(value, Dictionary):
                for key, item in value.items:
                    self.put_unnamed(owner, key, [item], frame)
            else:
                self.put_unnamed(owner, ANY, [element(value)], frame)

    def given_away(self, node: ast.Call, name: str, frame: Frame) -> None:
        """Code that is not the script's is given a tensor of zeros, or a list to be shuffled."""
        last = name.rpartition(".")[2]
        changes = last == "shuffle" or name.startswith(("heapq.", "bisect.insort"))
        if name in READS:
            return
        for place, argument in enumerate((*node.args, *(word.value for word in node.keywords))):
            if isinstance(argument, ast.Constant | ast.JoinedStr | ast.Call):
                continue  # nobody else has a name for it
            value = self.machine.eval(argument, frame)
            for inner in flat(value):
                if isinstance(inner, Const) and inner.made_at:
                    self.put_unnamed(inner, ANY, [], frame)
            if changes and place == 0 and isinstance(value, Items | Many):
                self.put_unnamed(value, ANY, [], frame)

    def _put_into(self, made: Origins, holder: Holder) -> list[tuple[object, Value | None]]:
        """What was put in by others than this holder."""
        return [
            (key, value)
            for origin in made
            for (key, by), value in self.program.puts.get(origin, {}).items()
            if by is None or by != holder
        ]


READS = frozenset(
    f"builtins.{name}"
    for name in "print float int str repr len round abs bool isinstance type sum max min".split()
)


def _holder(node: ast.expr, frame: Frame) -> Holder:
    return (frame.home, node.id) if isinstance(node, ast.Name) else None


def key_of(value: Value) -> object:
    """A key that is known, or any."""
    known = isinstance(value, Const) and isinstance(value.value, str)
    return value.value if known and isinstance(value, Const) else ANY


def _with(value: Value, put: list[tuple[object, Value | None]]) -> Value:
    """A container in which something may have been put, or moved."""
    given = [one for _, one in put if one is not None]
    if isinstance(value, Dictionary):
        if all(isinstance(key, str) for key, _ in put):
            items = dict(value.items)
            for key, one in put:
                if one is not None:
                    held = items.get(str(key))
                    items[str(key)] = perhaps(one) if held is None else join(held, one)
            return replace(value, items=tuple(items.items()))
        return Many(
            reduce(join, [*value.held, *given]) if value.held or given else PLAIN,
            made_at=value.made_at,
        )
    assert isinstance(value, Items | Many)
    inside = [] if isinstance(value, Items) and not value.items else [element(value)]
    held = reduce(join, [*inside, *given]) if inside or given else PLAIN
    return Many(held, value.born, value.made_at)
