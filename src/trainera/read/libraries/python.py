"""What Python's own functions give."""

import ast
from dataclasses import replace

from trainera.read.interpret.conditions import asks_for_list
from trainera.read.interpret.library import Library
from trainera.read.interpret.objects import BY_ANY_NAME
from trainera.read.interpret.state import Frame
from trainera.read.libraries import effects
from trainera.read.ops import figures, indexing
from trainera.read.ops.parts import moved_parts
from trainera.read.source.picking import ENDLESS, asked_about, called, whole_of
from trainera.read.source.syntax import is_namespace, parts_of
from trainera.read.values import (
    PLAIN,
    BatchIterable,
    Class,
    Const,
    Count,
    Dictionary,
    Function,
    Gathered,
    HashOrdered,
    Items,
    Loader,
    Lost,
    Many,
    Mean,
    Network,
    Object,
    OwnModule,
    Parameters,
    PartialCall,
    PerWorker,
    Qualified,
    Shard,
    Share,
    Sum,
    SuperObject,
    Value,
)
from trainera.read.values.containers import copied
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.gathered import gathered_of
from trainera.read.values.join import element, join, loaders_of

GONE_THROUGH = {"enumerate", "iter", "zip", "list", "tuple", "sum", "sorted", "min", "max", "map"}
COLLECTORS = {"list", "tuple", "set", "sorted", "map", "filter", "sum", "min", "max", "any", "all"}
"""Builtins that go through all that they are given."""
TELLS = {"any", "all", "sum", "min", "max", "next"}
"""Those that make one answer of many."""


class Python(Library):
    """What Python's own functions give."""

    first_changed = frozenset(
        {"shuffle", "heapify", "heappop", "heappush", "heappushpop", "heapreplace"}
    )

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        if name.startswith("builtins."):
            return self._builtin(name.rpartition(".")[2], node, frame)
        if name == "builtins.object.__setattr__" and len(node.args) == 3:
            positional, _ = self.machine.calls.arguments(node, frame)
            return self._set_attribute(node, node.args, positional, frame)
        if name == "functools.partial" and node.args:
            positional, keywords = self.machine.calls.arguments(node, frame)
            return PartialCall(positional[0], tuple(positional[1:]), tuple(keywords.items()))
        return None

    def called(self, name: str, node: ast.Call, value: Value, frame: Frame) -> Value:
        """``next(found, None)``: what it gives may be what is given for its end."""
        if name == "builtins.next" and len(node.args) == 2:
            return join(value, self.machine.eval(node.args[1], frame))
        return value

    def _builtin(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        positional, keywords = self.machine.calls.arguments(node, frame)
        if name in GONE_THROUGH:
            special = self.machine.special
            positional = [special.iterated(node, value, frame) for value in positional]
        if name in GONE_THROUGH or name in COLLECTORS:
            self.machine.loops.by_rows(node, positional, frame)
        first = positional[0] if positional else PLAIN
        asked = self.machine.special.builtin(name, positional, frame)
        if asked is not None:
            return asked
        if name == "float" and isinstance(first, Mean | Sum | Count):
            return figures.without_gradient(first)
        if name == "int" and isinstance(first, Sum | Count):
            if (isinstance(first, Count) and not first.scaled) or _counts(node):
                return figures.without_gradient(first)
            if frame.policy.assumes_rows and self._is_part_of_rows(node.args[0], frame):
                return Count(first.loaders)
        if name == "len" and isinstance(first, Shard):
            if first.nested:  # of a structure it is the number of its parts, not of samples
                return Lost(first.loaders, "how many samples a structure has is not its length")
            return self._length(first, node, frame)
        if name == "sum" and isinstance(first, Items | Many):
            item = element(first)
            if isinstance(item, Mean | Sum | Parameters | Count):
                return item
        self.machine.libraries.arguments_in_order(name, node, frame)
        if name not in ("print", "isinstance", "hasattr", "getattr", "setattr", "type", "repr"):
            self.machine.agreement.needed_by_all(node, positional, frame)
        if name == "setattr" and len(positional) == 3:
            return self._set_attribute(node, node.args, positional, frame)
        if frame.policy.gathers and moved_parts(node, name, positional) is None:
            if self._calls_back(name, positional, keywords):
                positional = self.machine.calls.gathered_arguments(node, frame)[: len(positional)]
                first = positional[0]
        if name == "vars" and isinstance(first, Object):
            return self.machine.objects.all_attributes(first)
        if name == "vars" and isinstance(first, OwnModule):
            return self.machine.namespaces.namespace(first.name)
        if name in ("eval", "exec") or is_namespace(node):
            self.machine.namespaces.all_names(node, frame)
            return self.machine.namespaces.any_name(frame.file.name) if name == "eval" else PLAIN
        if name == "enumerate":
            if isinstance(first, Loader | BatchIterable):
                return BatchIterable(loaders_of(first), Items((PLAIN, element(first))))
            if isinstance(first, Items | Many):
                return Many(Items((PLAIN, element(first))))
        if name == "zip" and any(isinstance(value, Loader | BatchIterable) for value in positional):
            batches = [value for value in positional if isinstance(value, Loader | BatchIterable)]
            loaders = frozenset().union(*(loaders_of(value) for value in batches))
            return BatchIterable(loaders, Items(tuple(element(value) for value in positional)))
        if name == "zip" and _are_lists(node, positional):
            return Many(Items(tuple(element(value) for value in positional)))
        if name == "iter" and isinstance(first, Loader | BatchIterable):
            return BatchIterable(loaders_of(first), element(first))
        if name == "next" and isinstance(first, BatchIterable | Loader):
            return self.machine.batches.next_batch(node, first, frame)
        if name in COLLECTORS:
            for value in positional:
                if isinstance(value, Loader | BatchIterable):
                    self.machine.batches.collected(node, loaders_of(value), frame)
        if name == "filter" and self._picks_files(node, positional, frame):
            return PLAIN
        if name in TELLS:
            answers = [element(one) for one in positional if isinstance(one, Many)]
            own = next((one for one in answers if isinstance(one, PerWorker)), None)
            if own is not None:
                return own
        batch = moved_parts(node, name, positional)
        if batch is not None:
            return batch
        if name in ("list", "tuple", "reversed", "sorted", "filter", "map"):
            if name == "reversed" and isinstance(first, Items):
                return Items(first.items[::-1])
            last = positional[-1] if name == "filter" else first
            if name in ("sorted", "filter") and frame.policy.gathers and last and holds_share(last):
                # Which is the least, or kept, is not the same in every slice.
                return gathered_of(*self.machine.calls.gathered_arguments(node, frame))
            if isinstance(first, Items | Many | Parameters):
                return copied(first)
            if len(positional) > 1 and isinstance(positional[1], Parameters):
                return positional[1]
        if name == "dict":
            made = _dictionary(positional, keywords)
            if made is not None:
                return made
        if name == "super":
            return self._super(node, frame)
        if isinstance(first, Object) and name in ("hasattr", "id", "type", "callable"):
            return PLAIN
        if name == "getattr" and len(positional) > 1 and not isinstance(positional[1], Const):
            if isinstance(first, Object):
                return self.machine.objects.by_computed_name(node, first.cls, frame)
            if isinstance(first, OwnModule):
                return self.machine.namespaces.any_name(first.name)
        if name == "getattr" and len(positional) > 1 and isinstance(positional[1], Const):
            if isinstance(first, Object | Network) and first.cls is not None:
                wanted = str(positional[1].value)
                value = self.machine.objects.member(first, first.cls, wanted, frame)
                if len(positional) > 2 and holds_share(positional[2]):
                    value = join(value, positional[2])  # it may not be there yet
                return self.machine.objects.of_this_batch(
                    ast.unparse(node), wanted, first.cls, value, frame
                )
            if isinstance(first, Qualified):
                return Qualified(f"{first.name}.{positional[1].value}")
        if name == "getattr" and first == Qualified("torch.optim"):
            return Qualified("torch.optim.Optimizer")
        if name == "isinstance":
            if isinstance(first, Network) and not asks_for_list(node):
                self.machine.libraries.given_away(node.args[0], first, frame)
            return PLAIN
        if (
            name == "print"
            and frame.policy.inside_network
            and any(holds_share(k) for k in positional)
        ):
            self.notes.trouble(
                "network", "prints", node, frame, first_share(Items(tuple(positional))).loaders
            )
        if name == "open":
            return None  # what it opens is told by the library of files
        if name == "abs" and isinstance(first, Shard):
            return first
        if frame.policy.assumes_rows and any(isinstance(k, Share) for k in positional):
            return self.machine.unknown.assumed(node, positional, frame)
        made = gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        if name in ("set", "frozenset") and not isinstance(made, Gathered):
            return HashOrdered()
        return made

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        if function.attr != "__setattr__" or not isinstance(owner, Object) or len(node.args) != 2:
            return None
        if isinstance(self.machine.objects.attribute(owner.cls, "__setattr__"), Function):
            return None
        positional, _ = self.machine.calls.arguments(node, frame)
        return self._set_attribute(node, [function.value, *node.args], [owner, *positional], frame)

    def _set_attribute(
        self, node: ast.Call, parts: list[ast.expr], given: list[Value], frame: Frame
    ) -> Value:
        """``setattr(owner, name, value)`` is an assignment, if its name can be told."""
        owner, _, value = parts
        called = given[1].value if isinstance(given[1], Const) else BY_ANY_NAME
        target = ast.Attribute(value=owner, attr=str(called), ctx=ast.Store())
        ast.copy_location(target, node)
        for part in (target, owner):
            frame.file.parents.setdefault(part, node)
        self.machine.assignments.assign(target, given[2], frame, value)
        return PLAIN

    def _calls_back(self, name: str, positional: list[Value], keywords: dict[str, Value]) -> bool:
        """Whether a function of the script's is called for items of a batch, and may keep them."""
        if name in ("map", "filter") and len(positional) > 1:
            called, items = positional[0], positional[1:]
        elif name in ("sorted", "min", "max"):
            called, items = keywords.get("key", PLAIN), positional
        else:
            return False
        return isinstance(called, Function) and any(map(holds_share, items))

    def _length(self, shard: Shard, node: ast.Call, frame: Frame) -> Value:
        """The size of the first dimension, which may be the batch, or not."""
        value = indexing.size(indexing.shape_of(shard), Const(0))
        if value is not None:
            return value
        if frame.policy.assumes_rows:
            self.notes.unsure_of(node, frame)
            return PLAIN
        made = self.machine.gathering.gather(node.args[0], shard, frame)
        return replace(made, rows=False, number=True) if isinstance(made, Gathered) else made

    def _picks_files(self, node: ast.Call, positional: list[Value], frame: Frame) -> bool:
        """``filter(os.path.isfile, names)``: all go on with what the first worker picks."""
        self.notes.agree.drop(node.func, frame)
        if len(positional) != 2 or {called(part) for part in parts_of(node.args[1])} & ENDLESS:
            return False
        by, value = positional[0], PLAIN
        if isinstance(by, Qualified) and by.name in effects.FILES:
            value = PerWorker("the file system")
        elif isinstance(by, Function) and isinstance(by.node, ast.Lambda):
            if {one.arg for one in by.node.args.args} <= asked_about(by.node.body):
                value = self.machine.functions.run(by, [element(positional[1])], {}, frame)
        if not isinstance(value, PerWorker) or "random" in value.what:
            return False
        self.machine.agreement.on_all(node.func, whole_of(node, frame.file), value, frame)
        return True

    def _is_part_of_rows(self, node: ast.expr, frame: Frame) -> bool:
        """``int(windows.shape[0] / 49)``: so many rows as each of 49 windows of an image has."""
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and isinstance(self.machine.eval(node.left, frame), Count)
        )

    def _super(self, node: ast.Call, frame: Frame) -> Value:
        """The object that a method is bound to, seen by the bases of the class it stands in."""
        above: ast.AST | None = node
        function: ast.AST | None = None
        while above is not None and not isinstance(above, ast.ClassDef):
            function = above if isinstance(above, ast.FunctionDef) else function
            above = frame.file.parents.get(above)
        if above is None or not isinstance(function, ast.FunctionDef) or not function.args.args:
            return PLAIN
        of = self.machine.names.lookup(function.args.args[0].arg, frame)
        if not isinstance(of, Object):
            return PLAIN
        return SuperObject(
            of, tuple(self.machine.objects.lineage(Class(above, frame.file.name))[1:])
        )


def _dictionary(positional: list[Value], keywords: dict[str, Value]) -> Value | None:
    """What ``dict(…)`` gives: a copy and more; None if it holds shares in a way not followed."""
    known = "**" not in keywords
    if known and (not positional or type(positional[0]) is Dictionary):
        copied = dict(positional[0].items) if positional else {}  # type: ignore[attr-defined]
        return Dictionary(tuple((copied | keywords).items()))
    return None if any(map(holds_share, (*positional, *keywords.values()))) else PLAIN


def _are_lists(node: ast.Call, values: list[Value]) -> bool:
    """Whether lists of networks, optimizers or the like are gone through side by side."""
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    lists = any(isinstance(value, Items | Many) for value in values)
    return lists and not starred and not any(holds_share(value) for value in values)


def _counts(node: ast.Call) -> bool:
    """Whether a call is given how many rows fulfil a condition: of slices, too, a whole number."""
    inside = list(ast.walk(node))
    compared = any(
        isinstance(part, ast.Compare)
        or (isinstance(part, ast.Attribute) and part.attr in ("eq", "ne", "isin", "count_nonzero"))
        for part in inside
    )
    scaled = any(isinstance(part, ast.Mult | ast.Div) for part in inside)
    return compared and not scaled
