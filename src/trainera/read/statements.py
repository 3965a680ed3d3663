"""Follows statements: paths, loops to their fixed point, and what outlives a batch."""

import ast

from trainera.read.carriers import is_entry
from trainera.read.core import Env, Frame, is_batches, join_env
from trainera.read.facts import CURRENT, LoopFact
from trainera.read.inside import flat, holds_share
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    Instance,
    Kind,
    Listing,
    Loader,
    Model,
    Shard,
)
from trainera.read.lattice import element, is_zero, join, loaders_of
from trainera.read.lifetimes import holds_lost, is_main_guard, names_bound, stale
from trainera.read.records import is_structure
from trainera.read.sets import Sets

MAX_ROUNDS = 6


class Statements(Sets):
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
                    self.rebind_wrapped(target, frame)

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

    # Paths.
    def do_if(self, node: ast.If, frame: Frame) -> None:
        if frame.is_module and is_main_guard(node.test):
            script = frame.file is self.files["__main__"]
            self.run(node.body if script else node.orelse, frame)
            return
        known = self.truth(node.test, frame)
        if known is not None:
            self.run(node.body if known else node.orelse, frame)
            return
        self.condition(node.test, frame)
        before, mode, fresh = dict(frame.env or {}), self.mode, self.fresh.now
        self.run(node.body, frame)
        after_body, mode_body, fresh_body = frame.env, self.mode, self.fresh.now
        frame.env, self.mode, self.fresh.now = before, mode, fresh
        self.run(node.orelse, frame)
        self.mode = self.mode if self.mode == mode_body else "either"
        if frame.env is None:
            self.fresh.now = fresh_body
        elif after_body is not None:
            self.fresh.meet(fresh_body, self.fresh.now)
        frame.env = join_env(after_body, frame.env)

    def do_for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        iterable = self.as_batches(self.eval(node.iter, frame), frame)
        if not is_batches(iterable):
            self.written_one_by_one(node, iterable, frame)
            if isinstance(iterable, Shard) and is_structure(node.iter, iterable, frame.file):
                iterable = Listing(iterable)
            elif holds_share(iterable) and not isinstance(iterable, Bunch | Listing):
                iterable = self.make_whole(node.iter, iterable, frame)
            self.agreed(node.iter, iterable, frame)
            self.in_order(node.iter, iterable, frame)
            self.needed_by_all(node.iter, (iterable,), frame)
            if isinstance(iterable, Model):
                self.through_wrapper(node.iter, iterable, frame, "__iter__")
            loop = self._drawing_loop(node, frame)
            self._loop(node, node.body, node.orelse, frame, node.target, element(iterable), loop)
            return
        loaders = loaders_of(iterable)
        loop = self.batch_loop(node, loaders, self._text_of(node.iter, loaders, frame), frame)
        loop.lingers = self.held_elsewhere(node, frame)
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
            before=frozenset(frame.env or {}),
        )
        self.outdate(loaders, "pass", frame)
        self.facts.loops[frame.context, node] = loop
        frame.loops.append(loop)
        return loop

    def do_while(self, node: ast.While, frame: Frame) -> None:
        self.condition(node.test, frame)
        loop = self._drawing_loop(node, frame)
        self._loop(node, node.body, node.orelse, frame, None, None, loop)

    def _drawing_loop(
        self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame
    ) -> LoopFact | None:
        """A loop that draws its batches by ``next(…)``, or makes them, is one over batches, too."""
        if any(node is one for one, _ in self.decisions.handmade):
            loop = self.batch_loop(node, frozenset({node}), CURRENT, frame)
            loop.handmade = True
            return loop
        for statement in node.body:
            for part in ast.walk(statement):
                if not isinstance(part, ast.Call):
                    continue
                loaders = self._drawn_from(part, frame)
                if loaders:
                    text = self.name_of(Loader(loaders), frame)
                    loop = self.batch_loop(node, loaders, text, frame)
                    loop.direct = frame.file.innermost_loop(part) is node
                    loop.lingers = loop.direct and self.outermost()
                    return loop
        return None

    def _drawn_from(self, node: ast.Call, frame: Frame) -> frozenset[ast.AST]:
        """The loaders whose next batch a call gives, by itself or by an object of the script's."""
        function = node.func
        if isinstance(function, ast.Name) and function.id == "next" and node.args:
            drawn = self.eval(node.args[0], frame)
            return loaders_of(drawn)
        if not isinstance(function, ast.Attribute) or self.open_loops or node.args:
            return frozenset()
        # It is called ahead of its time: what it would store now is not what it will store.
        known = dict(self.attributes), self.changed, self.fresh.now
        with self.on_trial():
            owner = self.eval(function.value, frame)
            given = self.eval(node, frame) if isinstance(owner, Instance) else PLAIN
        self.attributes, self.changed, self.fresh.now = known
        self.learned += 1
        parts = [kind for kind in flat(given) if isinstance(kind, Shard)]
        return parts[0].loaders if parts else frozenset()

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
        bound = set().union(*map(names_bound, body))
        head: Env | None = dict(entry)
        mode_at_entry = mode_at_head = self.mode
        fresh_at_head = self.fresh.now
        frame.breaks.append([])
        frame.continues.append([])
        at_once = loop is not None and not loop.handmade
        if loop is not None and at_once:
            self.open_loops.append(loop)
        self.loop_depth += 1

        def once_through() -> Env | None:
            """Runs the body from its head; gives the names at its end."""
            frame.env, self.mode = dict(head or {}), mode_at_head
            frame.breaks[-1].clear()
            frame.continues[-1].clear()
            self.fresh.begin_round(fresh_at_head if loop is None else frozenset())
            if target is not None and item is not None:
                self.assign(target, item, frame)
            self.run(body, frame)
            if isinstance(node, ast.While) and frame.env is not None:
                self.condition(node.test, frame)
            self.fresh.end_round(frame.env is not None)
            if not at_once:
                self.open_loops = [one for one in self.open_loops if one is not loop]
            return join_env(frame.env, *frame.continues[-1])

        # What is noted on the way to the fixed point may not hold at it: it is forgotten.
        for _ in range(MAX_ROUNDS):
            with self.on_trial() as trial:
                end = once_through()
                again = join_env(
                    entry, stale(end, bound, self.of_a_batch) if loop is not None else end
                )
                mode_again = mode_at_entry if self.mode == mode_at_entry else "either"
                fresh_again = fresh_at_head & self.fresh.now
                now, then = (again, mode_again, fresh_again), (head, mode_at_head, fresh_at_head)
                trial.holds = now == then
            if trial.holds:
                break
            head, mode_at_head, fresh_at_head = now
        else:
            end = once_through()
        self.loop_depth -= 1
        if at_once:
            self.open_loops.pop()
        elif self.open_loops:
            self.fresh.meet(fresh_at_head, self.fresh.now)  # there may be no round at all
        breaks = frame.breaks.pop()
        frame.continues.pop()
        # What was lost before the loop is found again where the loop binds it anew.
        kept = {n: k for n, k in entry.items() if not (holds_lost(k) and n in (end or {}))}
        frame.env = join_env(kept, end)
        self.run(orelse, frame)
        frame.env = join_env(frame.env, *breaks)

    def _text_of(self, node: ast.expr, loaders: frozenset[ast.AST], frame: Frame) -> str | None:
        """The loader inside an expression such as ``tqdm(enumerate(loader))``, as written."""
        for part in ast.walk(node):
            if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                continue
            named = is_entry(part) if isinstance(part, ast.Subscript) else dotted(part)
            if named and self.eval(part, frame) == Loader(loaders):
                return ast.unparse(part)
        own = CURRENT if loaders <= self.decisions.streams else None
        return self.name_of(Loader(loaders), frame) or own

    def do_break(self, node: ast.Break, frame: Frame) -> None:
        self.fresh.leave_round()
        if frame.env is not None and frame.breaks:
            frame.breaks[-1].append(frame.env)
        frame.env = None

    def do_continue(self, node: ast.Continue, frame: Frame) -> None:
        self.fresh.leave_round()
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
        self.fresh.leave_call()
        frame.env = None

    def do_raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is not None:
            self.whole(node.exc, frame)
        frame.env = None

    def do_try(self, node: ast.Try, frame: Frame) -> None:
        before, fresh = dict(frame.env or {}), self.fresh.now
        self.run(node.body, frame)
        self.run(node.orelse, frame)
        after, fresh_after = frame.env, self.fresh.now
        ends = [after]
        for handler in node.handlers:
            frame.env, self.fresh.now = join_env(before, after) or dict(before), fresh
            if handler.name:
                self.bind(handler.name, PLAIN, frame)
            self.run(handler.body, frame)
            ends.append(frame.env)
        # Whoever catches an error to go on has what was before; or it is as good as never caught.
        self.fresh.now = fresh_after if ends[1:] == [None] * len(node.handlers) else fresh
        frame.env = join_env(*ends)
        if node.finalbody:
            dead = frame.env is None
            frame.env = frame.env if frame.env is not None else before
            self.run(node.finalbody, frame)
            frame.env = None if dead else frame.env

    do_trystar = do_try

    def do_with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        fresh = self.fresh.now
        for item in node.items:
            kind = self.eval(item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, kind, frame)
        self.run(node.body, frame)
        if any("suppress" in ast.unparse(item.context_expr) for item in node.items):
            self.fresh.meet(fresh, self.fresh.now)

    do_asyncwith = do_with

    def do_match(self, node: ast.Match, frame: Frame) -> None:
        self.whole(node.subject, frame)
        before, fresh = dict(frame.env or {}), self.fresh.now
        ends: list[Env | None] = [before]
        for case in node.cases:
            frame.env = dict(before)
            self.run(case.body, frame)
            ends.append(frame.env)
            self.fresh.now = fresh
        frame.env = join_env(*ends)

    def do_delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and frame.env is not None:
                frame.env.pop(target.id, None)

    def do_assert(self, node: ast.Assert, frame: Frame) -> None:
        if _checks_shape(node.test):
            self.eval(node.test, frame)  # holds for a slice as it does for the whole batch
        else:
            self.condition(node.test, frame)


def _checks_shape(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Name)
        and part.func.id == "isinstance"
        for part in ast.walk(node)
    )


def dotted(node: ast.AST) -> bool:
    """Whether an expression is a name or names joined by dots."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
