"""Variables and functions that are reached by names in strings."""

import ast

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import is_namespace
from trainera.read.values import Class, Dictionary, Function, Items, OwnModule, Value
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.join import by_any_name, element


class Namespaces(MachinePart):
    """Variables and functions that are reached by names in strings."""

    def by_its_name(self, node: ast.Subscript, frame: Frame) -> Value | None:
        """``globals()["x"]`` is the variable x."""
        if is_namespace(node.value) and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, str):
                return self.machine.names.lookup(node.slice.value, frame)
        if isinstance(node.value, ast.Call) and is_namespace(node.value):
            self.all_names(node.value, frame)
            return self.any_name(frame.file.name)
        if ast.unparse(node) == "sys.modules[__name__]":
            return OwnModule(frame.file.name)
        return None

    def namespace(self, module: str) -> Dictionary:
        """The functions and classes of a module of the script's own, by name."""
        found = self.program.modules.get(module, {}).items()
        return Dictionary(tuple(pair for pair in found if isinstance(pair[1], Function | Class)))

    def any_name(self, module: str) -> Value:
        """One of these, by a name that is known when the script runs."""
        return by_any_name(element(Items(tuple(k for _, k in self.namespace(module).items))))

    def all_names(self, node: ast.Call, frame: Frame) -> None:
        """``locals()``, or code in a string: it may look at any variable, shares among them."""
        held = [value for value in (frame.env or {}).values() if holds_share(value)]
        if held and frame.policy.gathers:
            self.notes.trouble(
                "metrics", "names-at-run-time", node, frame, first_share(held[0]).loaders
            )
