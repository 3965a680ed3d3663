"""Definitions and imports."""

import ast
from dataclasses import replace
from functools import lru_cache, reduce

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame
from trainera.read.source.lifetimes import names_bound
from trainera.read.source.modules import absolute
from trainera.read.source.syntax import methods_of, text_of
from trainera.read.values import (
    PLAIN,
    Choice,
    Class,
    FirstOnly,
    Function,
    LibraryObject,
    Object,
    OwnModule,
    PartialCall,
    Property,
    Qualified,
    Value,
)
from trainera.read.values.join import join, members_of, union

LIBRARY = Qualified | LibraryObject | FirstOnly
"""Decorators of libraries give functions that do what the decorated ones do."""
KINDS = {
    *("property", "cached_property", "functools.cached_property", "staticmethod", "classmethod"),
    *("abstractmethod", "abc.abstractmethod", "abstractproperty"),
}
"""Decorators that say how a method is found."""
COMPOUND = ast.If | ast.Try | ast.With | ast.For | ast.While | ast.Match


class Definitions(MachinePart):
    """Definitions and imports."""

    def do_functiondef(self, node: ast.FunctionDef, frame: Frame) -> None:
        value = self.machine.functions.defined(node, frame)
        made = self.decorated(node.decorator_list, value, frame)
        self.machine.names.bind(node.name, made, frame)

    def decorated(self, decorators: list[ast.expr], value: Value, frame: Frame) -> Value:
        """What decorators make of a function or class: each is called with it."""
        for decorator in reversed(decorators):
            wrapper = self.machine.eval(decorator, frame)
            made = (self._wrapped(one, decorator, value, frame) for one in members_of(wrapper))
            value = reduce(join, made)
        return value

    def _wrapped(self, wrapper: Value, decorator: ast.expr, value: Value, frame: Frame) -> Value:
        """What one decorator gives; a library's gives what does the same."""
        if isinstance(wrapper, Function):
            return self.machine.functions.run(wrapper, [value], {}, frame)
        if isinstance(wrapper, PartialCall):
            more = replace(wrapper, positional=(*wrapper.positional, value))
            return self._called(more, decorator, frame)
        if isinstance(wrapper, Class | Choice | Object):
            return self._called(PartialCall(wrapper, (value,), ()), decorator, frame)
        if isinstance(wrapper, LIBRARY) or self._of_library(decorator, frame):
            return value
        return union(value, LibraryObject(decorator, text_of(decorator)))

    def _called(self, made: PartialCall, decorator: ast.expr, frame: Frame) -> Value:
        call = _call_of(decorator)
        frame.file.parents.setdefault(call, frame.file.parents[decorator])
        return self.machine.calls.call_value(made, call, frame)

    def _of_library(self, decorator: ast.expr, frame: Frame) -> bool:
        """Whether a decorator is a library's, or belongs to a function that a library made."""
        part = decorator
        while isinstance(part, ast.Call | ast.Attribute):
            part = part.func if isinstance(part, ast.Call) else part.value
            value = self.machine.eval(part, frame)
            if isinstance(value, LIBRARY):
                return True
            if isinstance(value, Function) and getattr(value.node, "decorator_list", []):
                return True
        return False

    def do_classdef(self, node: ast.ClassDef, frame: Frame) -> None:
        cls = Class(node, frame.file.name)
        self.machine.names.bind(node.name, cls, frame)
        outer = self.machine.names.close_over(frame) or frame.outer
        inner = Frame(frame.file, frame.context, {}, policy=frame.policy, outer=outer)
        for statement in node.body:
            self._in_class(statement, cls, inner)
        made = self.decorated(node.decorator_list, cls, frame)
        if made != cls:
            self.machine.names.bind(node.name, made, frame)

    def _in_class(self, statement: ast.stmt, cls: Class, frame: Frame) -> None:
        """A statement of a class: what it binds are the attributes of the class."""
        if isinstance(statement, ast.FunctionDef):
            self._method(statement, cls, frame)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            value = self._property(statement.value, frame)
            value = value or self.machine.eval(statement.value, frame)
            fields = isinstance(statement, ast.AnnAssign) and cls.node.decorator_list
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name) and fields:  # they are put into the objects
                    self.machine.objects.set_attribute(cls, target.id, value)
                elif isinstance(target, ast.Name):
                    self._in_both(target.id, value, cls, frame)
            simple = {target.id for target in targets if isinstance(target, ast.Name)}
            self._unknown(names_bound(statement) - simple, cls, frame)
        elif isinstance(statement, COMPOUND):
            before = dict(frame.env or {})
            self.machine.run([statement], frame)
            for name, value in (frame.env or {}).items():
                if before.get(name) != value:
                    self.machine.objects.set_in_class(cls, name, value)
        elif not isinstance(statement, ast.AsyncFunctionDef | ast.ClassDef | ast.AnnAssign):
            self._unknown(names_bound(statement), cls, frame)

    def _unknown(self, names: set[str], cls: Class, frame: Frame) -> None:
        """Names that are bound in other ways: by a walrus, by an operator."""
        for name in names:
            self._in_both(name, PLAIN, cls, frame)

    def _in_both(self, name: str, value: Value, cls: Class, frame: Frame) -> None:
        self.machine.names.bind(name, value, frame)
        self.machine.objects.set_in_class(cls, name, value)

    def _method(self, node: ast.FunctionDef, cls: Class, frame: Frame) -> None:
        """A method, as its decorators make it: those that say how it is found are told later."""
        method = Function(node, cls.module, owner=cls.node)
        if methods_of(cls.node).get(node.name) is not node:
            return
        self.machine.names.bind(node.name, method, frame)
        kinds = [one for one in node.decorator_list if text_of(one) in KINDS]
        others = [one for one in node.decorator_list if text_of(one) not in KINDS]
        made = self.decorated(others, method, frame)
        if made == method:
            return
        if any("property" in text_of(kind) for kind in kinds):
            made = Property(made)
        self.machine.names.bind(node.name, made, frame)
        self.machine.objects.wrap_method(cls, node.name, made)

    def _property(self, node: ast.expr, frame: Frame) -> Value | None:
        """``property(get, set)``"""
        if not isinstance(node, ast.Call) or not 0 < len(node.args) < 4:
            return None
        if self.machine.eval(node.func, frame) != Qualified("builtins.property"):
            return None
        return Property(*(self.machine.eval(argument, frame) for argument in node.args[:2]))

    def do_import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.split(".")[0]
            for module in _prefixes(alias.name):
                self.enter_module(module)
            value: Value = OwnModule(name) if name in self.program.files else Qualified(name)
            self.machine.names.bind(alias.asname or name, value, frame)

    def do_importfrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        base = absolute(frame.file, node)
        self.enter_module(base)
        for alias in node.names:
            full = f"{base}.{alias.name}" if base else alias.name
            if alias.name == "*":
                self._all_of(base, frame)
                continue
            if base in self.program.files and alias.name in self.program.modules.get(base, {}):
                found = self.program.modules[base][alias.name]
            elif full in self.program.files:
                self.enter_module(full)
                found = OwnModule(full)
            else:
                found = Qualified(full) if base not in self.program.files else PLAIN
            self.machine.names.bind(alias.asname or alias.name, found, frame)

    def _all_of(self, module: str, frame: Frame) -> None:
        """``from helper import *``: of names that it may leave out both may be meant."""
        if module not in self.program.files:
            self.machine.names.doubt(frame)
        given = self.program.modules.get(module, {})
        for name, value in given.items():
            before = (frame.env or {}).get(name)
            left_out = before is not None and ("__all__" in given or name.startswith("_"))
            self.machine.names.bind(name, join(before, value) if left_out else value, frame)

    def enter_module(self, name: str) -> None:
        """Runs the top level of one of the script's own modules, once a reading."""
        if name not in self.program.files or name in self.program.modules:
            return
        env: Env = {}
        self.program.modules[name] = env
        frame = Frame(self.program.files[name], 0, env, is_module=True)
        self.machine.run(self.program.files[name].tree.body, frame)
        if frame.env is not None:
            self.program.modules[name] = frame.env

    def do_global(self, node: ast.Global, frame: Frame) -> None:
        if not frame.is_module:
            frame.globals.update(node.names)

    def do_nonlocal(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.nonlocals.update(node.names)


@lru_cache(maxsize=4096)
def _call_of(decorator: ast.expr) -> ast.Call:
    """The call that a decorator stands for: the same one in each reading."""
    return ast.copy_location(ast.Call(func=decorator, args=[], keywords=[]), decorator)


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
