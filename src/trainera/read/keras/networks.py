"""Which names a Keras script has networks by, as far as that can be told from what is done to them.

Values are not followed: a network is what is compiled, or trained by words that only Keras has.
"""

import ast
from collections.abc import Iterator

from trainera.read.keras.facts import Spot
from trainera.read.source.file import SourceFile
from trainera.read.source.names import Names

Files = dict[str, SourceFile]

COMPILED_BY = {"optimizer", "loss", "metrics", "run_eagerly", "jit_compile", "loss_weights"}
SEQUENCES = {"Sequence", "PyDataset"}
FITTED_BY = {
    *("epochs", "batch_size", "validation_data", "validation_split", "callbacks", "verbose"),
    *("steps_per_epoch", "class_weight"),
}


def compilations(files: Files) -> Iterator[Spot]:
    """Calls of a network's `compile`, file by file in their order."""
    for file in files.values():
        names = Names(file)
        found = [
            node
            for node in file.nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "compile"
            and not names.of(node.func)
            and (COMPILED_BY & {keyword.arg for keyword in node.keywords} or len(node.args) > 1)
        ]
        yield from (Spot(file, node) for node in sorted(found, key=lambda one: one.lineno))


def network_names(files: Files) -> set[str]:
    """The last names of what is compiled or fitted: ``model`` of ``self.model``."""
    found = {last_name(_receiver(spot.node)) for spot in compilations(files)}
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                words = {keyword.arg for keyword in node.keywords}
                if node.func.attr == "fit" and words & FITTED_BY:
                    found.add(last_name(node.func.value))
    return found - {""}


def uses(files: Files, methods: set[str]) -> Iterator[Spot]:
    """Calls of these methods of networks."""
    networks = network_names(files)
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in methods and is_network(node.func.value, networks):
                    yield Spot(file, node)


def from_python(files: Files) -> set[str]:
    """What gives batches one by one from Python: own classes and generators, Keras's `flow`."""
    found = {"flow", "flow_from_directory", "flow_from_dataframe"}
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, ast.ClassDef) and SEQUENCES & set(map(last_name, node.bases)):
                found.add(node.name)
            elif isinstance(node, ast.Yield | ast.YieldFrom):
                function = file.function_of(node)
                found |= {function.name} if function is not None else set()
    return found


def given(spot: Spot) -> Iterator[ast.expr]:
    """What the first argument of a call may be, where it is a name that its file gives values."""
    assert isinstance(spot.node, ast.Call)
    first = [*spot.node.args, *(word.value for word in spot.node.keywords if word.arg == "x")][:1]
    yield from first
    names = {one.id for one in first if isinstance(one, ast.Name)}
    for node in spot.file.nodes:
        if isinstance(node, ast.Assign) and names & set(map(last_name, node.targets)):
            yield node.value


def is_network(node: ast.AST, networks: set[str]) -> bool:
    return last_name(node) in networks


def last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _receiver(call: ast.AST) -> ast.expr:
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return call.func.value
