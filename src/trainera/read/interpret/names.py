"""Names: what they hold, and what is bound to them."""

import builtins

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import PLAIN, Qualified, Value
from trainera.read.values.join import join


class Names(MachinePart):
    """Names: what they hold, and what is bound to them."""

    def lookup(self, name: str, frame: Frame) -> Value:
        if frame.env is not None and name in frame.env and name not in frame.globals:
            return frame.env[name]
        outer = frame.outer
        while outer is not None and outer in self.program.scopes:
            env, outer = self.program.scopes[outer]
            if name in env:
                return env[name]
        module = self.program.modules.get(frame.file.name, {})
        if name in module:
            return module[name]
        if hasattr(builtins, name):
            return Qualified(f"builtins.{name}")
        return PLAIN

    def bind(self, name: str, value: Value, frame: Frame) -> None:
        if frame.env is None:
            return
        if name in frame.globals:
            module = self.program.modules[frame.file.name]
            module[name] = join(module.get(name), value)
            self.program.learned += 1
        if frame.is_module and frame.env.get(name) != value:
            self.program.learned += 1
        frame.env[name] = value

    def close_over(self, frame: Frame) -> int:
        self.program.scopes[frame.scope] = (frame.env or {}, frame.outer)
        return frame.scope
