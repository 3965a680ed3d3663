"""Follows definitions and imports."""

import ast

from trainera.read.assignments import Assignments
from trainera.read.core import Env, Frame
from trainera.read.kinds import (
    PLAIN,
    Class,
    External,
    Func,
    Kind,
    OwnModule,
)
from trainera.read.modules import absolute


class Definitions(Assignments):
    """The part of the analyser that follows definitions and imports."""

    def do_functiondef(self, node: ast.FunctionDef, frame: Frame) -> None:
        kind: Kind = Func(node, frame.file.name, scope=frame.scope)
        for decorator in reversed(node.decorator_list):
            wrapper = self.eval(decorator, frame)
            if isinstance(wrapper, Func):
                kind = self.call_function(wrapper, [kind], {}, frame)
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

    def do_nonlocal(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.nonlocals.update(node.names)


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
