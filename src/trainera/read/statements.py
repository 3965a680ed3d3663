"""Follows statements: paths, loops to their fixed point, and what outlives a batch."""

import ast
from dataclasses import replace

from trainera.read.core import Core, Env, Frame, is_batches, join_env
from trainera.read.facts import Carrier, LoopFact, Tally
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    Count,
    External,
    Func,
    Instance,
    Iter,
    Kind,
    Listing,
    Loader,
    Lost,
    Mapping,
    Mean,
    Model,
    OwnModule,
    Shard,
    Share,
    Shape,
    Sum,
    element,
    holds_share,
    is_zero,
    join,
    models_in,
)
from trainera.read.modules import absolute

MAX_ROUNDS = 6


class Statements(Core):
    """The part of the analyser that follows statements."""

    def run(self, statements: list[ast.stmt], frame: Frame) -> None:
        for statement in statements:
            if frame.env is None:
                return
            self.spend(frame)
            if frame.is_module:
                self.modules[frame.file.name] = frame.env  # functions see the names as of now
            handler = getattr(self, f"do_{type(statement).__name__.lower()}", None)
            if handler is not None:
                handler(statement, frame)
            else:
                self.do_anything(statement, frame)
            for wrapped, target in self.decisions.wraps:
                if wrapped is statement:
                    self._rebind_wrapped(target, frame)

    def do_anything(self, statement: ast.stmt, frame: Frame) -> None:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                self.whole(child, frame)

    def do_expr(self, statement: ast.Expr, frame: Frame) -> None:
        kind = self.eval(statement.value, frame)
        call = statement.value
        if (
            isinstance(kind, Model)
            and not kind.part
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name | ast.Attribute)
            and call.func.attr not in ("train", "eval")
        ):
            self.carry(statement, call.func.value, None, kind, frame)

    # Definitions and imports.
    def do_functiondef(self, node: ast.FunctionDef, frame: Frame) -> None:
        kind: Kind = Func(node, frame.file.name, scope=frame.scope)
        for decorator in node.decorator_list:
            self.eval(decorator, frame)
        self.bind(node.name, kind, frame)

    do_asyncfunctiondef = do_functiondef

    def do_classdef(self, node: ast.ClassDef, frame: Frame) -> None:
        cls = Class(node, frame.file.name)
        self.bind(node.name, cls, frame)
        for statement in node.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                kind = self.eval(statement.value, frame)
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                )
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.set_attribute(cls, target.id, kind)

    def do_import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.split(".")[0]
            for module in _prefixes(alias.name):
                self.enter_module(module)
            kind: Kind = OwnModule(name) if name in self.files else External(name)
            self.bind(alias.asname or name, kind, frame)

    def do_importfrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        base = absolute(frame.file, node)
        self.enter_module(base)
        for alias in node.names:
            full = f"{base}.{alias.name}" if base else alias.name
            if alias.name == "*":
                for name, kind in self.modules.get(base, {}).items():
                    self.bind(name, kind, frame)
                continue
            if base in self.files and alias.name in self.modules.get(base, {}):
                found = self.modules[base][alias.name]
            elif full in self.files:
                self.enter_module(full)
                found = OwnModule(full)
            else:
                found = External(full) if base not in self.files else PLAIN
            self.bind(alias.asname or alias.name, found, frame)

    def enter_module(self, name: str) -> None:
        """Runs the top level of one of the script's own modules, once a reading."""
        if name not in self.files or name in self.modules:
            return
        env: Env = {}
        self.modules[name] = env
        frame = Frame(self.files[name], 0, env, is_module=True)
        self.run(self.files[name].tree.body, frame)
        if frame.env is not None:
            self.modules[name] = frame.env

    def do_global(self, node: ast.Global, frame: Frame) -> None:
        if not frame.is_module:
            frame.globals.update(node.names)

    # Assignments.
    def do_assign(self, node: ast.Assign, frame: Frame) -> None:
        update = self._as_update(node)
        if update is not None:
            self._accumulate(node, node.targets[0], ast.Add(), update, frame)
            return
        kind = self.eval(node.value, frame)
        for target in node.targets:
            self._note_carrier(node, target, node.value, kind, frame)
            self.assign(target, kind, frame, node.value)

    def do_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            kind = self.eval(node.value, frame)
            self._note_carrier(node, node.target, node.value, kind, frame)
            self.assign(node.target, kind, frame, node.value)

    def do_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        self._accumulate(node, node.target, node.op, node.value, frame)

    @staticmethod
    def _as_update(node: ast.Assign) -> ast.expr | None:
        """The addend of ``total = total + x``."""
        value = node.value
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and isinstance(value, ast.BinOp)
            and isinstance(value.op, ast.Add)
        ):
            name = node.targets[0].id
            for one, other in ((value.left, value.right), (value.right, value.left)):
                if isinstance(one, ast.Name) and one.id == name:
                    return other
        return None

    def _accumulate(
        self, node: ast.stmt, target: ast.expr, op: ast.operator, value: ast.expr, frame: Frame
    ) -> None:
        self.facts.tallies.pop((frame.context, node), None)
        self.facts.escapes.pop((frame.context, value), None)
        before = self.eval(target, frame)
        kind = self.eval(value, frame)
        loop = self.open_loops[-1] if self.open_loops else None
        if not holds_share(kind) and not holds_share(before):
            self.assign(target, _after_update(before, kind), frame, value)
            return
        born_here = (
            isinstance(before, Const) and loop is not None and before.born is loop.node
        )
        if holds_share(before) or born_here or frame.lenient:
            after = self.operation(type(op).__name__, target, before, value, kind, frame)
            self.assign(target, after, frame, value)
            return
        summable = isinstance(kind, Sum | Mean | Count) and isinstance(op, ast.Add)
        if loop is not None and summable and isinstance(target, ast.Name):
            assert isinstance(kind, Share)
            text = self.loader_text(kind.loaders, frame)
            if text is not None and any(loop is own for own in frame.loops):
                self.facts.tallies[frame.context, node] = Tally(
                    node=node,
                    value=value,
                    name=target.id,
                    file=frame.file,
                    loop=loop.node,
                    share=kind,
                    text=text,
                    starts_at_zero=target.id in loop.zeros,
                )
                self.assign(target, PLAIN, frame, value)
                return
        self.make_whole(value, kind, frame)
        self.assign(target, PLAIN, frame, value)

    def assign(
        self, target: ast.expr, kind: Kind, frame: Frame, value: ast.expr | None = None
    ) -> None:
        """Stores a kind; what is stored in containers must be whole."""
        if isinstance(target, ast.Name):
            self.bind(target.id, kind, frame)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, kind, frame, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Listing(kind) if holds_share(kind) else PLAIN, frame)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, kind, frame, value)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, kind, frame, value)

    def _assign_attribute(
        self, target: ast.Attribute, kind: Kind, frame: Frame, value: ast.expr | None
    ) -> None:
        owner = self.eval(target.value, frame)
        if target.attr == "requires_grad":
            self.frees(target, owner, frame)
        if isinstance(owner, Model) and not owner.part:
            self._altered(target, owner, kind, frame)
        cls = owner.cls if isinstance(owner, Instance | Model) else None
        if cls is None:
            if value is not None and holds_share(kind):
                self.make_whole(value, kind, frame)
            return
        if isinstance(owner, Model) and isinstance(kind, Mean | Sum) and frame.lenient:
            self.remembers(target, [kind], frame)
        self.set_attribute(cls, target.attr, kind)

    def _altered(self, target: ast.Attribute, owner: Model, kind: Kind, frame: Frame) -> None:
        """Something is set on the network: through its wrapper, and no new layer once wrapped."""
        self.through_wrapper(target.value, owner, frame, target.attr)
        if isinstance(kind, Model) and owner.wrapped is not False:
            self.trouble(
                "wrap",
                target,
                frame,
                frozenset(),
                what="a layer is replaced after the network was wrapped",
                why="gradients of the new layer would not be averaged",
                do="put the network together before it is used or passed on",
            )

    def frees(self, node: ast.AST, owner: Kind, frame: Frame) -> None:
        """Parameters are frozen or freed: fine while the network is built, not while it trains."""
        used = frozenset(self.facts.first_use)
        if used & (models_in(owner) or used) and not frame.lenient:
            self.trouble(
                "wrap",
                node,
                frame,
                frozenset(),
                what="parameters are frozen or freed after training has begun",
                why="which gradients are averaged is settled when the network is wrapped",
                do="freeze before training, or train the two stages as two scripts",
            )

    def remembers(self, node: ast.AST, kinds: list[Kind], frame: Frame) -> None:
        """A network that keeps figures of its batches is no longer the same on all workers."""
        shares = [kind for kind in kinds if isinstance(kind, Share)]
        self.trouble(
            "network",
            node,
            frame,
            shares[0].loaders,
            what="the network keeps a figure of the batch it has just seen",
            why="each worker sees its slice only, so the copies would drift apart",
            do="compute it in the training loop, where it is combined over the workers",
        )

    def _assign_item(
        self, target: ast.Subscript, kind: Kind, frame: Frame, value: ast.expr | None
    ) -> None:
        owner = self.eval(target.value, frame)
        if isinstance(owner, Mapping) and isinstance(target.value, ast.Name):
            key = self.eval(target.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, str):
                items = dict(owner.items) | {key.value: kind}
                self.bind(target.value.id, Mapping(tuple(items.items())), frame)
                return
        if isinstance(owner, Shard):
            return  # rows of a batch are written to: it stays a batch
        self.whole(target.slice, frame)
        if value is not None and holds_share(kind):
            self.make_whole(value, kind, frame)

    def _unpack(
        self,
        target: ast.Tuple | ast.List,
        kind: Kind,
        frame: Frame,
        value: ast.expr | None,
    ) -> None:
        parts = target.elts
        values: list[ast.expr | None] = [None] * len(parts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(parts):
            values = list(value.elts)
        for place, part in enumerate(parts):
            self.assign(part, unpacked(kind, place, len(parts)), frame, values[place])

    def _note_carrier(
        self, node: ast.stmt, target: ast.expr, value: ast.expr, kind: Kind, frame: Frame
    ) -> None:
        """Remembers where a variable receives a network from a call."""
        if isinstance(kind, Model) and not kind.part and isinstance(value, ast.Call):
            if isinstance(target, ast.Name | ast.Attribute):
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
            )
        )

    def _rebind_wrapped(self, target: ast.expr, frame: Frame) -> None:
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
        else:
            self.assign(target, replace(kind, wrapped=True), frame)

    # Paths.
    def do_if(self, node: ast.If, frame: Frame) -> None:
        if frame.is_module and is_main_guard(node.test):
            self.run(node.body, frame)
            return
        self.condition(node.test, frame)
        before, mode = dict(frame.env or {}), self.mode
        self.run(node.body, frame)
        after_body, mode_body = frame.env, self.mode
        frame.env, self.mode = before, mode
        self.run(node.orelse, frame)
        self.mode = self.mode if self.mode == mode_body else "either"
        frame.env = join_env(after_body, frame.env)

    def do_for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        iterable = self.eval(node.iter, frame)
        if not is_batches(iterable):
            if holds_share(iterable) and not isinstance(iterable, Bunch | Listing):
                iterable = self.make_whole(node.iter, iterable, frame)
            self.agreed(node.iter, iterable, frame)
            if isinstance(iterable, Model):
                self.through_wrapper(node.iter, iterable, frame, "__iter__")
            loop = self._drawing_loop(node, frame)
            self._loop(node, node.body, node.orelse, frame, node.target, element(iterable), loop)
            return
        assert isinstance(iterable, Loader | Iter)
        loaders = iterable.origins if isinstance(iterable, Loader) else iterable.loaders
        loop = self.batch_loop(node, loaders, self._text_of(node.iter, loaders, frame), frame)
        self._loop(node, node.body, node.orelse, frame, node.target, element(iterable), loop)

    do_asyncfor = do_for

    def batch_loop(
        self, node: ast.AST, loaders: frozenset[ast.AST], text: str | None, frame: Frame
    ) -> LoopFact:
        loop = LoopFact(
            node=node,
            file=frame.file,
            loaders=loaders,
            text=text,
            evaluating=self.mode == "eval",
            zeros=frozenset(name for name, kind in (frame.env or {}).items() if is_zero(kind)),
        )
        self.facts.loops[frame.context, node] = loop
        frame.loops.append(loop)
        return loop

    def do_while(self, node: ast.While, frame: Frame) -> None:
        self.condition(node.test, frame)
        loop = self._drawing_loop(node, frame)
        self._loop(node, node.body, node.orelse, frame, None, None, loop)

    def _drawing_loop(self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame) -> LoopFact | None:
        """A loop that draws its batches by ``next(…)`` is a loop over batches, too."""
        for statement in node.body:
            for part in ast.walk(statement):
                if (
                    isinstance(part, ast.Call)
                    and isinstance(part.func, ast.Name)
                    and part.func.id == "next"
                    and part.args
                ):
                    drawn = self.eval(part.args[0], frame)
                    if isinstance(drawn, Iter):
                        text = self.name_of(Loader(drawn.loaders), frame)
                        return self.batch_loop(node, drawn.loaders, text, frame)
        return None

    def _loop(
        self,
        node: ast.AST,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        frame: Frame,
        target: ast.expr | None,
        item: Kind | None,
        loop: LoopFact | None,
    ) -> None:
        entry = dict(frame.env or {})
        head: Env | None = dict(entry)
        end: Env | None = None
        frame.breaks.append([])
        frame.continues.append([])
        if loop is not None:
            self.open_loops.append(loop)
        self.loop_depth += 1
        for _ in range(MAX_ROUNDS):
            frame.env = dict(head or {})
            frame.breaks[-1].clear()
            frame.continues[-1].clear()
            if target is not None and item is not None:
                self.assign(target, item, frame)
            self.run(body, frame)
            if isinstance(node, ast.While) and frame.env is not None:
                self.condition(node.test, frame)
            end = join_env(frame.env, *frame.continues[-1])
            again = join_env(entry, stale(end) if loop is not None else end)
            if again == head:
                break
            head = again
        self.loop_depth -= 1
        if loop is not None:
            self.open_loops.pop()
        breaks = frame.breaks.pop()
        frame.continues.pop()
        frame.env = join_env(entry, end)
        self.run(orelse, frame)
        frame.env = join_env(frame.env, *breaks)

    def _text_of(self, node: ast.expr, loaders: frozenset[ast.AST], frame: Frame) -> str | None:
        """The loader inside an expression such as ``tqdm(enumerate(loader))``, as written."""
        for part in ast.walk(node):
            if (
                isinstance(part, ast.Name | ast.Attribute)
                and dotted(part)
                and self.eval(part, frame) == Loader(loaders)
            ):
                return ast.unparse(part)
        return self.name_of(Loader(loaders), frame)

    def do_break(self, node: ast.Break, frame: Frame) -> None:
        if frame.env is not None and frame.breaks:
            frame.breaks[-1].append(frame.env)
        frame.env = None

    def do_continue(self, node: ast.Continue, frame: Frame) -> None:
        if frame.env is not None and frame.continues:
            frame.continues[-1].append(frame.env)
        frame.env = None

    def do_return(self, node: ast.Return, frame: Frame) -> None:
        kind: Kind = Const(None)
        if node.value is not None:
            kind = self.eval(node.value, frame)
            if holds_share(kind) and not frame.lenient and frame.loops:
                # The loop over these batches is here: outside, its weight would not be known.
                kind = self.whole(node.value, frame)
        frame.returns = join(frame.returns, kind) if frame.returns is not None else kind
        frame.env = None

    def do_raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is not None:
            self.whole(node.exc, frame)
        frame.env = None

    def do_try(self, node: ast.Try, frame: Frame) -> None:
        before = dict(frame.env or {})
        self.run(node.body, frame)
        self.run(node.orelse, frame)
        after = frame.env
        ends = [after]
        for handler in node.handlers:
            frame.env = join_env(before, after) or dict(before)
            if handler.name:
                self.bind(handler.name, PLAIN, frame)
            self.run(handler.body, frame)
            ends.append(frame.env)
        frame.env = join_env(*ends)
        if node.finalbody:
            dead = frame.env is None
            frame.env = frame.env if frame.env is not None else before
            self.run(node.finalbody, frame)
            frame.env = None if dead else frame.env

    do_trystar = do_try

    def do_with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        for item in node.items:
            kind = self.eval(item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, kind, frame)
        self.run(node.body, frame)

    do_asyncwith = do_with

    def do_match(self, node: ast.Match, frame: Frame) -> None:
        self.whole(node.subject, frame)
        before = dict(frame.env or {})
        ends: list[Env | None] = [before]
        for case in node.cases:
            frame.env = dict(before)
            self.run(case.body, frame)
            ends.append(frame.env)
        frame.env = join_env(*ends)

    def do_assert(self, node: ast.Assert, frame: Frame) -> None:
        if _checks_shape(node.test):
            self.eval(node.test, frame)  # holds for a slice as it does for the whole batch
        else:
            self.condition(node.test, frame)


def _checks_shape(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "isinstance"
        for part in ast.walk(node)
    )


def _after_update(before: Kind, kind: Kind) -> Kind:
    return before if isinstance(before, Listing | Bunch) and not isinstance(kind, Const) else PLAIN


def stale(env: Env | None) -> Env | None:
    """The names at the start of the next batch: shares of the last one are worth nothing now."""
    if env is None:
        return None
    result = {}
    for name, kind in env.items():
        if isinstance(kind, Share) and not isinstance(kind, Lost):
            result[name] = Lost(kind.loaders, f"'{name}' is left over from an earlier batch")
        else:
            result[name] = kind
    return result


def unpacked(kind: Kind, place: int, length: int) -> Kind:
    """One item of a value that is taken apart."""
    if isinstance(kind, Bunch) and len(kind.items) == length:
        return kind.items[place]
    if isinstance(kind, Shape):
        if kind.dim is None:
            return PLAIN
        return Count(kind.loaders) if place == kind.dim else PLAIN
    if isinstance(kind, Shard):
        if kind.nested:
            return kind
        return Lost(kind.loaders, "a batch is taken apart sample by sample", models=kind.models)
    if isinstance(kind, Share):
        return Lost(kind.loaders, "it is taken apart", models=kind.models)
    return element(kind)


def dotted(node: ast.AST) -> bool:
    """Whether an expression is a name or names joined by dots."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_main_guard(test: ast.expr) -> bool:
    return "__name__" in ast.unparse(test) and "__main__" in ast.unparse(test)


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
