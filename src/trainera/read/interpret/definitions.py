"""Definitions and imports."""

import ast

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame
from trainera.read.source.lifetimes import names_bound
from trainera.read.source.modules import absolute
from trainera.read.values import PLAIN, Class, Function, OwnModule, Qualified, Value
from trainera.read.values.join import join


class Definitions(MachinePart):
    """Definitions and imports."""

    def do_functiondef(self, node: ast.FunctionDef, frame: Frame) -> None:
        value: Value = self.machine.functions.defined(node, frame)
        for decorator in reversed(node.decorator_list):
            wrapper = self.machine.eval(decorator, frame)
            if isinstance(wrapper, Function):
                value = self.machine.functions.run(wrapper, [value], {}, frame)
        self.machine.names.bind(node.name, value, frame)

    def do_classdef(self, node: ast.ClassDef, frame: Frame) -> None:
        cls = Class(node, frame.file.name)
        self.machine.names.bind(node.name, cls, frame)
        around = frame.env
        frame.env = dict(around) if around is not None else None
        for statement in node.body:
            self._class_statement(cls, statement, frame)
        frame.env = around

    def _class_statement(self, cls: Class, statement: ast.stmt, frame: Frame) -> None:
        """A name that is bound in the body of a class is an attribute of it, and seen behind it."""
        simple: set[str] = set()
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            value = self.machine.eval(statement.value, frame)
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    simple.add(target.id)
                    self.machine.objects.set_attribute(cls, target.id, value)
                    if frame.env is not None:
                        frame.env[target.id] = value
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        for name in names_bound(statement) - simple:
            self.machine.objects.set_attribute(cls, name, PLAIN)
            if frame.env is not None:
                frame.env[name] = PLAIN

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


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
