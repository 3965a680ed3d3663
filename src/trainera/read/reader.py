"""Reads a script: runs the machine over it until nothing new is learned."""

import ast
import re

from trainera.read.batches.own import OwnBatches
from trainera.read.facts import Decisions, Facts
from trainera.read.interpret.library import Library
from trainera.read.interpret.machine import Machine
from trainera.read.interpret.state import Frame
from trainera.read.libraries.distributed import OwnWorkers
from trainera.read.libraries.files import Files
from trainera.read.libraries.meters import Meters
from trainera.read.libraries.progress import Progress
from trainera.read.libraries.python import Python
from trainera.read.libraries.randomness import Randomness
from trainera.read.libraries.sets import Sets
from trainera.read.libraries.side_effects import SideEffects
from trainera.read.libraries.torch.library import Torch
from trainera.read.libraries.torch.tensor import Tensors
from trainera.read.source.file import SourceFile
from trainera.read.source.lifetimes import is_main_guard
from trainera.read.values import PLAIN, Class, Function, Object

MAX_READINGS = 6
LIBRARIES: list[type[Library]] = [
    *(OwnWorkers, Randomness, Torch, Sets, Python, Progress, Meters, SideEffects, Files),
    Tensors,
]
"""In the order in which they are asked: whoever knows a single name comes before who knows many."""
ACTS = {"backward", "state_dict", "load_state_dict", "save", "makedirs", "mkdir", "savefig", "open"}

MADE_UP = re.compile(
    rb"(?<![.\w])(getattr|globals|locals|vars|eval|exec) *\(|import(lib|__| \*)|__dict__"
)


def read(files: dict[str, SourceFile], decisions: Decisions) -> tuple[Facts, frozenset[ast.AST]]:
    """The facts of a script, and calls of libraries that turned out to make networks.

    Attributes of objects are followed without regard to order, so the script is read again until
    no attribute is learned to be something new.
    """
    machine = Machine(files, decisions, _libraries(decisions))
    for _ in range(MAX_READINGS):
        machine.begin_reading()
        _read_once(machine)
        if not machine.program.changed:
            break
    facts = machine.notes.facts
    gathered = {node for _, node in facts.escapes}
    # Code that is also run with what is no share must not gather it there.
    facts.plain |= {
        key
        for key, shared in machine.program.seen.items()
        if not shared and key[1] in gathered and (key[0] in facts.contexts or not key[0])
    }
    return facts, frozenset(machine.program.promoted)


def _libraries(decisions: Decisions) -> list[type[Library]]:
    own = [OwnBatches] if decisions.handmade or decisions.streams else []
    return [*LIBRARIES, *own]


def _read_once(machine: Machine) -> None:
    script = machine.program.files["__main__"]
    frame = Frame(script, 0, {}, is_module=True)
    machine.program.modules["__main__"] = {}
    machine.run(script.tree.body, frame)
    if frame.ended and frame.env is None:
        machine.notes.never_alone()
    frame.env = frame.env if frame.env is not None else machine.program.modules["__main__"]
    machine.program.modules["__main__"] = frame.env
    _read_uncalled(machine, frame)


def _read_uncalled(machine: Machine, frame: Frame) -> None:
    """Functions that train, save or write but are called in a way that was not seen.

    A library may call them, or the script by a name made up at run time.
    """
    for file in machine.program.files.values():
        for node in file.nodes:
            if (
                isinstance(node, ast.FunctionDef)
                and node not in machine.program.visited
                and _acts(node)
            ):
                if _is_dead(node, file, machine):
                    continue
                parent = file.parents.get(node)
                if isinstance(parent, ast.Module):
                    machine.functions.run(Function(node, file.name), [], {}, frame)
                elif isinstance(parent, ast.ClassDef) and not _feeds_loaders(parent):
                    cls = Class(parent, file.name)
                    bound = Object(cls)
                    machine.functions.run(
                        Function(node, file.name, bound=bound, owner=parent), [PLAIN], {}, frame
                    )


def _is_dead(node: ast.FunctionDef, file: SourceFile, machine: Machine) -> bool:
    """Whether a function of an imported module belongs to what that does as a script of its own.

    Only functions that nobody calls name it, and no name is made up at run time.
    """
    if file is machine.program.files["__main__"] or any(
        MADE_UP.search(f.source) for f in _all(machine)
    ):
        return False
    return not any(
        _names(part, node.name, one, file) and _is_alive(part, one, machine)
        for one in _all(machine)
        for part in one.nodes
    )


def _is_alive(node: ast.AST, file: SourceFile, machine: Machine) -> bool:
    """Whether it stands where the reading came by: at the top, in a class, in what was called."""
    above: ast.AST | None = node
    while above is not None:
        if isinstance(above, ast.FunctionDef) and above not in machine.program.visited:
            return isinstance(file.parents.get(above), ast.ClassDef)
        if isinstance(above, ast.If) and is_main_guard(above.test):
            return file is machine.program.files["__main__"]
        above = file.parents.get(above)
    return True


def _names(node: ast.AST, name: str, file: SourceFile, home: SourceFile) -> bool:
    """Whether a node names a function of the file `home`."""
    if isinstance(node, ast.Attribute) and node.attr == name:
        imports = (part for part in file.nodes if isinstance(part, ast.alias))
        modules = {(part.asname or part.name).split(".")[0] for part in imports}
        return ast.unparse(node.value).split(".")[0] in modules
    if isinstance(node, ast.alias):
        return node.name == name
    return isinstance(node, ast.Name) and node.id == name and file is home


def _all(machine: Machine) -> list[SourceFile]:
    return list(machine.program.files.values())


def _acts(node: ast.AST) -> bool:
    return any(
        (isinstance(part, ast.Attribute) and part.attr in ACTS)
        or (isinstance(part, ast.Name) and part.id == "open")
        for part in ast.walk(node)
    )


def _feeds_loaders(cls: ast.ClassDef) -> bool:
    """Datasets and samplers run in the loaders' processes, where there is no crew."""
    return any(word in ast.unparse(base) for base in cls.bases for word in ("Dataset", "Sampler"))
