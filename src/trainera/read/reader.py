"""Reads a script: runs the analyser over it until nothing new is learned."""

import ast

from trainera.read.calls import Calls
from trainera.read.core import Frame
from trainera.read.facts import Decisions, Facts
from trainera.read.freshness import Freshness
from trainera.read.kinds import PLAIN, Class, Func, Instance
from trainera.read.source import SourceFile

MAX_READINGS = 6
ACTS = {"backward", "state_dict", "load_state_dict", "save", "makedirs", "mkdir", "savefig", "open"}


def read(files: dict[str, SourceFile], decisions: Decisions) -> tuple[Facts, frozenset[ast.AST]]:
    """The facts of a script, and calls of libraries that turned out to make networks.

    Attributes of objects are followed without regard to order, so the script is read again until
    no attribute is learned to be something new.
    """
    reader = Calls(files, decisions)
    for _ in range(MAX_READINGS):
        reader.facts = Facts(files=files)
        reader.modules = {}
        reader.changed = False
        reader.mode = "train"
        reader.fresh = Freshness()
        reader.active.clear()
        reader.visited.clear()
        reader.used.clear()
        _read_once(reader)
        if not reader.changed:
            break
    return reader.facts, frozenset(reader.promoted)


def _read_once(reader: Calls) -> None:
    script = reader.files["__main__"]
    frame = Frame(script, 0, {}, is_module=True)
    reader.modules["__main__"] = {}
    reader.run(script.tree.body, frame)
    frame.env = frame.env if frame.env is not None else reader.modules["__main__"]
    reader.modules["__main__"] = frame.env
    _read_uncalled(reader, frame)


def _read_uncalled(reader: Calls, frame: Frame) -> None:
    """Functions that train, save or write but are called in a way that was not seen.

    A library may call them, or the script by a name made up at run time.
    """
    for file in reader.files.values():
        for node in file.nodes:
            if isinstance(node, ast.FunctionDef) and node not in reader.visited and _acts(node):
                parent = file.parents.get(node)
                if isinstance(parent, ast.Module):
                    reader.call_function(Func(node, file.name), [], {}, frame)
                elif isinstance(parent, ast.ClassDef) and not _feeds_loaders(parent):
                    cls = Class(parent, file.name)
                    bound = Instance(cls)
                    reader.call_function(
                        Func(node, file.name, bound=bound, owner=parent), [PLAIN], {}, frame
                    )


def _acts(node: ast.AST) -> bool:
    return any(
        (isinstance(part, ast.Attribute) and part.attr in ACTS)
        or (isinstance(part, ast.Name) and part.id == "open")
        for part in ast.walk(node)
    )


def _feeds_loaders(cls: ast.ClassDef) -> bool:
    """Datasets and samplers run in the loaders' processes, where there is no crew."""
    return any(word in ast.unparse(base) for base in cls.bases for word in ("Dataset", "Sampler"))
