"""Loops, read to their fixed point; those over batches among them."""

import ast
from collections.abc import Sequence

from trainera.read.facts import CURRENT, LoopFact
from trainera.read.interpret.outliving import holds_lost, stale
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame, join_env
from trainera.read.ops.parts import is_structure
from trainera.read.source.lifetimes import names_bound
from trainera.read.source.syntax import dotted, is_entry, parts_of
from trainera.read.values import PLAIN, Items, Loader, Many, Object, Shard, Union, Value
from trainera.read.values.contents import flat, holds_share
from trainera.read.values.join import element, is_batches, is_zero, loaders_of

MAX_ROUNDS = 6


class Loops(MachinePart):
    """Loops, read to their fixed point; those over batches among them."""

    def do_for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        given = self.machine.eval(node.iter, frame)
        iterable = self.machine.special.iterated(node.iter, given, frame)
        if isinstance(iterable, Union):
            self._some_batches(node, iterable, frame)
        if not is_batches(iterable):
            self.machine.writes.written_one_by_one(node, iterable, frame)
            self.by_rows(node.iter, (iterable,), frame)
            if isinstance(iterable, Shard) and is_structure(node.iter, iterable, frame.file):
                iterable = Many(iterable)
            elif holds_share(iterable) and not isinstance(iterable, Items | Many):
                iterable = self.machine.gathering.gather(node.iter, iterable, frame)
            self.machine.agreement.agreed(node.iter, iterable, frame)
            self.machine.libraries.in_order(node.iter, iterable, frame)
            self.machine.agreement.needed_by_all(node.iter, (iterable,), frame)
            self.machine.libraries.looped_over(node.iter, iterable, frame)
            loop = self._drawing_loop(node, frame)
            self._loop(node, node.body, node.orelse, frame, node.target, element(iterable), loop)
            return
        loaders = loaders_of(iterable)
        loop = self.batch_loop(node, loaders, self.text_of(node.iter, loaders, frame), frame)
        loop.lingers = self.machine.outliving.held_elsewhere(node, frame)
        self._loop(node, node.body, node.orelse, frame, node.target, element(iterable), loop)

    def by_rows(self, node: ast.expr, values: Sequence[Value], frame: Frame) -> None:
        """Inside a network: rows are gone through one by one, and may be told what came before."""
        if frame.policy.inside_network and any(
            isinstance(one, Shard) and not one.nested and one.dim in (0, None) for one in values
        ):
            self.notes.unsure_of(node, frame)

    def _some_batches(self, node: ast.For | ast.AsyncFor, iterable: Union, frame: Frame) -> None:
        """A loop over one of several things, of which some give batches."""
        batches = [one for one in iterable.members if is_batches(one)]
        if batches:
            self.notes.trouble("split", "some-batches", node.iter, frame, loaders_of(batches[0]))

    def batch_loop(
        self, node: ast.AST, loaders: frozenset[ast.AST], text: str | None, frame: Frame
    ) -> LoopFact:
        loop = LoopFact(
            node=node,
            file=frame.file,
            loaders=loaders,
            text=text,
            evaluating=self.path.mode == "eval",
            zeros=frozenset(name for name, value in (frame.env or {}).items() if is_zero(value)),
            before=frozenset(frame.env or {}),
        )
        self.machine.outliving.outdate(loaders, "pass", frame)
        self.notes.loops.set(node, frame, loop)
        frame.loops.append(loop)
        return loop

    def do_while(self, node: ast.While, frame: Frame) -> None:
        self.machine.conditions.condition(node.test, frame)
        loop = self._drawing_loop(node, frame)
        self._loop(node, node.body, node.orelse, frame, None, None, loop)

    def _drawing_loop(
        self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame
    ) -> LoopFact | None:
        """A loop that draws its batches by ``next(…)``, or makes them, is one over batches, too."""
        if any(node is one for one, _ in self.program.decisions.handmade):
            loop = self.batch_loop(node, frozenset({node}), CURRENT, frame)
            loop.handmade = True
            return loop
        for statement in node.body:
            for part in parts_of(statement):
                if not isinstance(part, ast.Call):
                    continue
                loaders = self._drawn_from(part, frame)
                if loaders:
                    text = self.machine.loader_names.name_of(Loader(loaders), frame)
                    loop = self.batch_loop(node, loaders, text, frame)
                    loop.direct = frame.file.innermost_loop(part) is node
                    loop.lingers = loop.direct and self.path.outermost()
                    return loop
        return None

    def _drawn_from(self, node: ast.Call, frame: Frame) -> frozenset[ast.AST]:
        """The loaders whose next batch a call gives, by itself or by an object of the script's."""
        function = node.func
        if isinstance(function, ast.Name) and function.id == "next" and node.args:
            drawn = self.machine.eval(node.args[0], frame)
            return loaders_of(drawn)
        if not isinstance(function, ast.Attribute) or self.path.open_loops or node.args:
            return frozenset()
        # It is called ahead of its time: what it would store now is not what it will store.
        known = dict(self.program.attributes), self.program.changed, self.path.fresh.now
        with self.notes.on_trial():
            owner = self.machine.eval(function.value, frame)
            given = self.machine.eval(node, frame) if isinstance(owner, Object) else PLAIN
        self.program.attributes, self.program.changed, self.path.fresh.now = known
        self.program.learned += 1
        parts = [value for value in flat(given) if isinstance(value, Shard)]
        return parts[0].loaders if parts else frozenset()

    def _loop(
        self,
        node: ast.AST,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        frame: Frame,
        target: ast.expr | None,
        item: Value | None,
        loop: LoopFact | None,
    ) -> None:
        entry = dict(frame.env or {})
        bound = set().union(*map(names_bound, body))
        head: Env | None = dict(entry)
        mode_at_entry = mode_at_head = self.path.mode
        fresh_at_head = self.path.fresh.now
        frame.breaks.append([])
        frame.continues.append([])
        at_once = loop is not None and not loop.handmade
        if loop is not None and at_once:
            self.path.open_loops.append(loop)
        self.path.loop_depth += 1

        def once_through() -> Env | None:
            """Runs the body from its head; gives the names at its end."""
            frame.env, self.path.mode = dict(head or {}), mode_at_head
            frame.breaks[-1].clear()
            frame.continues[-1].clear()
            self.path.fresh.begin_round(fresh_at_head if loop is None else frozenset())
            if loop is not None and item is not None:
                self.machine.objects.arrives(item)
            if target is not None and item is not None:
                self.machine.assignments.assign(target, item, frame)
            self.machine.run(body, frame)
            if isinstance(node, ast.While) and frame.env is not None:
                self.machine.conditions.condition(node.test, frame)
            self.path.fresh.end_round(frame.env is not None)
            if not at_once:
                self.path.open_loops = [one for one in self.path.open_loops if one is not loop]
            return join_env(frame.env, *frame.continues[-1])

        # What is noted on the way to the fixed point may not hold at it: it is forgotten.
        for _ in range(MAX_ROUNDS):
            with self.notes.on_trial() as trial:
                end = once_through()
                again = join_env(
                    entry,
                    stale(end, bound, self.machine.objects.of_a_batch) if loop is not None else end,
                )
                mode_again = mode_at_entry if self.path.mode == mode_at_entry else "either"
                fresh_again = fresh_at_head & self.path.fresh.now
                now, then = (again, mode_again, fresh_again), (head, mode_at_head, fresh_at_head)
                trial.holds = now == then
            if trial.holds:
                break
            head, mode_at_head, fresh_at_head = now
        else:
            end = once_through()
        self.path.loop_depth -= 1
        if at_once:
            self.path.open_loops.pop()
        elif self.path.open_loops:
            self.path.fresh.meet(fresh_at_head, self.path.fresh.now)  # there may be no round at all
        breaks = frame.breaks.pop()
        frame.continues.pop()
        # What was lost before the loop is found again where the loop binds it anew.
        kept = {n: k for n, k in entry.items() if not (holds_lost(k) and n in (end or {}))}
        frame.env = join_env(kept, end)
        self.machine.run(orelse, frame)
        frame.env = join_env(frame.env, *breaks)

    def text_of(self, node: ast.expr, loaders: frozenset[ast.AST], frame: Frame) -> str | None:
        """The loader inside an expression such as ``tqdm(enumerate(loader))``, as written."""
        for part in parts_of(node):
            if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                continue
            named = is_entry(part) if isinstance(part, ast.Subscript) else dotted(part)
            if named and self.machine.eval(part, frame) == Loader(loaders):
                return ast.unparse(part)
        own = CURRENT if loaders <= self.program.decisions.streams else None
        return self.machine.loader_names.name_of(Loader(loaders), frame) or own

    def do_break(self, node: ast.Break, frame: Frame) -> None:
        self.path.fresh.leave_round()
        if frame.env is not None and frame.breaks:
            frame.breaks[-1].append(frame.env)
        frame.env = None

    def do_continue(self, node: ast.Continue, frame: Frame) -> None:
        self.path.fresh.leave_round()
        if frame.env is not None and frame.continues:
            frame.continues[-1].append(frame.env)
        frame.env = None
