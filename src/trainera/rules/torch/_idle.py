"""Whether a network may have layers that get no gradient in a step."""

import ast
from collections.abc import Iterator

from trainera.read.facts import Facts
from trainera.read.source.file import SourceFile
from trainera.rules.torch._reach import reached


def idle_layers(facts: Facts) -> bool:
    """Whether some network of the script's may have layers that get no gradient in a step."""
    found = [(cls, file) for file in facts.files.values() for cls in _networks(file)]
    if facts.draws or any(_has_spare_layer(cls, file) for cls, file in found):
        return True
    choosing = {cls for cls, _ in found if _chooses(cls)}
    # A parameter that the loss alone uses would count as idle, and then turn up with a gradient.
    # So several outputs are taken to be used, all of them; if not, the first step says so.
    several = set() if facts.loose else {cls for cls, _ in found if _has_several_outputs(cls)}
    asked = choosing | several
    return bool(asked) and not asked <= reached(facts)


def _networks(file: SourceFile) -> Iterator[ast.ClassDef]:
    for node in file.nodes:
        if isinstance(node, ast.ClassDef) and any("Module" in ast.unparse(b) for b in node.bases):
            yield node


def _has_several_outputs(cls: ast.ClassDef) -> bool:
    """Whether a network has outputs that a loss may not use."""
    return any(
        isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple | ast.Dict)
        for forward in _forwards(cls)
        for node in ast.walk(forward)
    )


def _has_spare_layer(cls: ast.ClassDef, file: SourceFile) -> bool:
    """Whether a network has a layer that nothing in its file uses."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and target.attr not in file.attributes_read:
                if ast.unparse(node.value.func).split(".")[-1][:1].isupper():
                    return True
    return False


def _chooses(cls: ast.ClassDef) -> bool:
    """Whether a network calls some of its layers under a condition."""
    return any(
        isinstance(part, ast.Call) and ast.unparse(part.func).startswith("self.")
        for forward in _forwards(cls)
        for node in ast.walk(forward)
        if isinstance(node, ast.If)
        for part in ast.walk(node)
    )


def _forwards(cls: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for item in cls.body:
        if isinstance(item, ast.FunctionDef) and item.name == "forward":
            yield item
