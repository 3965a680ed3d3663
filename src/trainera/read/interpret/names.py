"""Names: what they hold, and what is bound to them."""

import builtins

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame, Scope
from trainera.read.source.syntax import free_names
from trainera.read.values import PLAIN, UNKNOWN_YET, Const, Function, Qualified, Value
from trainera.read.values.join import join


class Names(MachinePart):
    """Names: what they hold, and what is bound to them."""

    def lookup(self, name: str, frame: Frame) -> Value:
        if frame.env is not None and name in frame.env and name not in frame.globals:
            return frame.env[name]
        outer = frame.outer
        while outer is not None and outer in self.program.scopes:
            scope = self.program.scopes[outer]
            found = scope.get(name)
            if found is not None:
                return found
            outer = scope.frame.outer
        module = self.program.modules.get(frame.file.name, {})
        if name in module:
            return module[name]
        if hasattr(builtins, name):
            return Qualified(f"builtins.{name}")
        return PLAIN

    def bind(self, name: str, value: Value, frame: Frame) -> None:
        if frame.env is None:
            return
        if frame.is_module:
            value = self.as_certain(name, value)
        if name in frame.globals:
            module = self.program.modules[frame.file.name]
            module[name] = join(module.get(name), value)
            self.program.learned += 1
        if name in frame.nonlocals:
            self._bind_outside(name, value, frame)
        if frame.is_module and frame.env.get(name) != value:
            self.program.learned += 1
        frame.env[name] = value
        for bound in frame.midway:
            bound[name] = join(bound.get(name), value)

    def as_certain(self, name: str, value: Value) -> Value:
        """A module's name: no known constant if something else may be given to it elsewhere."""
        doubted = is_known(value) and not self.program.rebinding.is_certain(name)
        return PLAIN if doubted else value

    def doubt_all(self, frame: Frame) -> None:
        """Code that is not known may have given something else to any name of a module."""
        for env in self.program.modules.values():
            _doubt(env)
        self.doubt(frame)

    def doubt(self, frame: Frame) -> None:
        """The same for the names of one module."""
        for env in (frame.env or {}, *frame.midway):
            _doubt(env)
        self.program.learned += 1

    def set_of_module(self, module: str, name: str, value: Value) -> None:
        """``helper.MODE = "loud"``: whoever reads the name finds this, or what it was."""
        self.machine.definitions.enter_module(module)
        env = self.program.modules.get(module)
        if env is not None:
            env[name] = self.as_certain(name, join(env.get(name), value))
            self.program.learned += 1

    def _bind_outside(self, name: str, value: Value, frame: Frame) -> None:
        """The name of a function around is this, or what it was: who knows who calls when."""
        outer = frame.outer
        while outer is not None and outer in self.program.scopes:
            around = self.program.scopes[outer].frame
            if name in around.names():
                for env in (around.names(), *around.midway):
                    env[name] = join(env.get(name), value)
                return
            outer = around.outer

    def close_over(self, frame: Frame) -> int:
        """The number of the scope that a function is defined in; none if that is a module."""
        if frame.scope:
            self.program.scopes[frame.scope] = Scope(frame, dict(frame.names()))
        return frame.scope

    def seen_by(self, function: Function, *, inner: bool = False) -> list[Value | None]:
        """What a function finds under names not its own; ``inner``: without the module's."""
        names = sorted(free_names(function.node))
        found: dict[str, Value] = {}
        outer: int | None = function.scope
        while outer is not None and outer in self.program.scopes:
            scope = self.program.scopes[outer]
            for name in names:
                if name not in found and (value := scope.get(name)) is not None:
                    found[name] = value
            outer = scope.frame.outer
        around = {} if inner else self.program.modules.get(function.module, {})
        return [found.get(name, around.get(name)) for name in names]


def is_known(value: Value) -> bool:
    """Whether it is a constant, by which tests may be decided."""
    return isinstance(value, Const) and value is not UNKNOWN_YET


def _doubt(env: Env) -> None:
    """Constants are none any more."""
    env.update({name: PLAIN for name, value in env.items() if is_known(value)})
