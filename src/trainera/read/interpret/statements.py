"""Statements: paths, and where they meet."""

import ast
from collections.abc import Callable
from typing import Any

from trainera.read.interpret.heap import ANY
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame, join_env
from trainera.read.source.lifetimes import is_main_guard, names_bound
from trainera.read.values import PLAIN, Const, Items, Many, Value
from trainera.read.values.contents import holds_share
from trainera.read.values.join import join


class Statements(MachinePart):
    """Statements: paths, and where they meet."""

    handlers: dict[type[ast.stmt], Callable[[Any, Frame], None]]
    """Who follows which statement; given by the machine."""

    def run(self, statements: list[ast.stmt], frame: Frame) -> None:
        for statement in statements:
            if frame.env is None:
                return
            self.program.spend(frame)
            if frame.is_module:
                self.program.modules[frame.file.name] = (
                    frame.env
                )  # functions see the names as of now
            rebinds = statement in self.program.rebinding.at_top
            if rebinds:
                self.machine.names.doubt_all(frame)
            self.handlers.get(type(statement), self.do_anything)(statement, frame)
            if rebinds:
                self.machine.names.doubt_all(frame)
            self.machine.libraries.statement_done(statement, frame)

    def do_anything(self, statement: ast.stmt, frame: Frame) -> None:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                self.machine.gathering.evaluate(child, frame)

    def do_expr(self, statement: ast.Expr, frame: Frame) -> None:
        value = self.machine.eval(statement.value, frame)
        self.machine.libraries.discarded(statement, value, frame)

    def do_if(self, node: ast.If, frame: Frame) -> None:
        if frame.is_module and is_main_guard(node.test):
            script = frame.file is self.program.files["__main__"]
            self.run(node.body if script else node.orelse, frame)
            return
        known = self.machine.conditions.truth(node.test, frame)
        if known is not None:
            self.run(node.body if known else node.orelse, frame)
            return
        self.machine.conditions.condition(node.test, frame)
        before, mode, fresh = dict(frame.env or {}), self.path.mode, self.path.fresh.now
        self.run(node.body, frame)
        after_body, mode_body, fresh_body = frame.env, self.path.mode, self.path.fresh.now
        frame.env, self.path.mode, self.path.fresh.now = before, mode, fresh
        self.run(node.orelse, frame)
        self.path.mode = self.path.mode if self.path.mode == mode_body else "either"
        if frame.env is None:
            self.path.fresh.now = fresh_body
        elif after_body is not None:
            self.path.fresh.meet(fresh_body, self.path.fresh.now)
        frame.env = join_env(after_body, frame.env)

    def do_return(self, node: ast.Return, frame: Frame) -> None:
        value: Value = Const(None)
        if node.value is not None:
            value = self.machine.eval(node.value, frame)
            if holds_share(value) and frame.policy.gathers and frame.loops:
                # The loop over these batches is here: outside, its weight would not be known.
                value = self.machine.gathering.evaluate(node.value, frame)
        frame.returns = join(frame.returns, value) if frame.returns is not None else value
        self.path.fresh.leave_call()
        frame.left = join_env(frame.left, frame.env)
        frame.env = None

    def do_raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is not None:
            self.machine.gathering.evaluate(node.exc, frame)
            if isinstance(node.exc, ast.Call):  # whoever catches it may look at what is in it
                for part in (*node.exc.args, *(word.value for word in node.exc.keywords)):
                    self.machine.gathering.evaluate(part, frame)
        frame.env = None

    def do_try(self, node: ast.Try, frame: Frame) -> None:
        before, fresh = dict(frame.env or {}), self.path.fresh.now
        frame.midway.append({})
        self.run(node.body, frame)
        self.run(node.orelse, frame)
        after, fresh_after = frame.env, self.path.fresh.now
        ends = [after]
        anywhere = join_env(before, after, before | frame.midway[-1])
        for handler in node.handlers:
            frame.env, self.path.fresh.now = dict(anywhere or {}), fresh
            if handler.name:
                self.machine.names.bind(handler.name, PLAIN, frame)
            self.run(handler.body, frame)
            ends.append(frame.env)
        # Whoever catches an error to go on has what was before; or it is as good as never caught.
        self.path.fresh.now = fresh_after if ends[1:] == [None] * len(node.handlers) else fresh
        frame.env = join_env(*ends)
        bound = join_env(before, before | frame.midway.pop())
        if node.finalbody:
            self._at_last(node.finalbody, bound or {}, frame)

    def _at_last(self, body: list[ast.stmt], bound: Env, frame: Frame) -> None:
        """What is done however the block was left: with the names of its end, or of any place."""
        end = frame.env
        frame.env = join_env(end, bound)
        self.run(body, frame)
        if end is None or frame.env is None:
            frame.env = None
            return
        changed = set().union(*map(names_bound, body))
        frame.env = {
            name: value for name, value in frame.env.items() if name in changed or name in end
        }
        frame.env |= {name: value for name, value in end.items() if name not in changed}

    def do_with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        before, fresh = dict(frame.env or {}), self.path.fresh.now
        managers: list[Value] = []
        for item in node.items:
            manager = self.machine.eval(item.context_expr, frame)
            value = self.machine.special.entered(manager, frame)
            managers.append(manager)
            if item.optional_vars is not None:
                self.machine.assignments.assign(item.optional_vars, value, frame)
        frame.midway.append({})
        self.run(node.body, frame)
        anywhere = before | frame.midway.pop()
        drops = False
        for item, manager in reversed(list(zip(node.items, managers, strict=True))):
            if self.machine.special.left(item.context_expr, manager, frame):
                drops = True
        if drops:  # an error in the body: it goes on behind it
            self.path.fresh.meet(fresh, self.path.fresh.now)
            frame.env = join_env(frame.env, before, anywhere)

    def do_match(self, node: ast.Match, frame: Frame) -> None:
        """What a pattern binds stays bound if the case's guard says no."""
        subject = self.machine.gathering.evaluate(node.subject, frame)
        if not frame.policy.gathers:
            subject = self.machine.eval(node.subject, frame)
        before: Env | None = dict(frame.env or {})
        fresh, mode = self.path.fresh.now, self.path.mode
        ends: list[Env | None] = []
        modes = {mode}
        for case in node.cases:
            frame.env, self.path.mode = dict(before or {}), mode
            self.machine.patterns.bind(case.pattern, subject, frame)
            if case.guard is not None:
                self.machine.conditions.condition(case.guard, frame)
                before = join_env(before, frame.env)
            self.run(case.body, frame)
            ends.append(frame.env)
            modes.add(self.path.mode)
            self.path.fresh.now = fresh
        frame.env = join_env(before, *ends)
        self.path.mode = modes.pop() if len(modes) == 1 else "either"

    def do_typealias(self, statement: ast.stmt, frame: Frame) -> None:
        """``type Rows = list[float]``"""
        name = getattr(statement, "name", None)
        if isinstance(name, ast.Name):
            self.machine.names.bind(name.id, PLAIN, frame)

    def do_delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and frame.env is not None:
                frame.env.pop(target.id, None)
            if isinstance(target, ast.Attribute | ast.Subscript):
                owner = self.machine.eval(target.value, frame)
                name = "__delattr__" if isinstance(target, ast.Attribute) else "__delitem__"
                self.machine.special.ask(owner, name, [PLAIN], frame)
                if isinstance(target, ast.Subscript):
                    self.machine.writes.written(target, frame)
                    if isinstance(owner, Items | Many):
                        self.machine.heap.put_unnamed(owner, ANY, [], frame)

    def do_assert(self, node: ast.Assert, frame: Frame) -> None:
        exact = any(isinstance(part, ast.Eq) for part in ast.walk(node.test))
        if _checks_shape(node.test) or (frame.policy.inside_network and not exact):
            # A slice passes if the batch does. One size exactly is another matter, see `decides`.
            self.machine.eval(node.test, frame)
        else:
            self.machine.conditions.condition(node.test, frame)


def _checks_shape(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Name)
        and part.func.id == "isinstance"
        for part in ast.walk(node)
    )
