"""Writes the runtime into a converted file, so that it runs where trainera is not installed.

The runtime's source is read as text (importing it would import torch), cut down to what the file
uses, and put into one function: names such as ``sum`` and ``split`` then never meet the user's.
For this the runtime keeps some rules, see `complaints`.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.resources import files

import trainera
from trainera.rewrite.modules import PACKAGES, RUNTIMES, Binding, Module, Piece, read_module

BEGIN = "# ---- trainera runtime: begin " + "-" * 50
END = "# ---- trainera runtime: end " + "-" * 52
RESERVED = {"sys", "types", "shared"}
"""Names that the bundle's own lines use."""
_FUNCTION = "_trainera_crew"


def crew_sources(runtime: str = "crew") -> dict[str, str]:
    """The source of each file of a runtime, by module name."""
    folder = files("trainera") / runtime
    return {
        entry.name.removesuffix(".py"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".py")
    }


def bundle(
    names: Collection[str],
    *,
    runtime: str = "crew",
    alias: str = "crew",
    shared: bool = False,
    sources: Mapping[str, str] | None = None,
) -> str:
    """A runtime's source for a file that uses these names of it.

    With `shared` the first file of a process that carries the runtime gives it to the others.
    """
    sources = crew_sources(runtime) if sources is None else sources
    modules = _in_order({name: read_module(name, text) for name, text in sources.items()})
    public = _public(sources["__init__"])
    unknown = sorted(set(names) - set(public))
    assert not unknown, f"the runtime has no {', '.join(unknown)}"
    kept = _needed(modules, {public[name] for name in names})
    exported = ", ".join(f"{name}={public[name]}" for name in sorted(names))
    ending = [f"return types.SimpleNamespace({exported})"]
    opening = []
    if shared:
        opening = [
            "import sys",
            "",
            f'if "{_FUNCTION}" in sys.modules:  # another file of this script brought it along',
            f'    return sys.modules["{_FUNCTION}"]',
        ]
        ending = [
            f'shared = types.ModuleType("{_FUNCTION}")',
            f"shared.__dict__.update({exported})",
            f'sys.modules["{_FUNCTION}"] = shared',
            "return shared",
        ]
    imports = list(_import_lines(modules, kept))
    blocks = ["\n".join(opening), "\n".join(imports), *(piece.text for piece in kept)]
    body = "\n\n".join(_indented(block) for block in [*blocks, "\n".join(ending)] if block)
    return f"""\
{BEGIN}
# What this file needs of trainera {trainera.__version__} to train on several workers, written by
# `trainera convert --standalone`; it needs nothing but {RUNTIMES[runtime]}. (Apache-2.0)
def {_FUNCTION}():
{body}


{alias} = {_FUNCTION}()
{END}"""


def complaints(sources: Mapping[str, str]) -> list[str]:
    """Where the runtime breaks the rules that let it live inside one function."""
    found: list[str] = []
    modules = [read_module(name, text) for name, text in sources.items() if name != "__init__"]
    owners: dict[str, str] = {}
    for module in modules:
        found.extend(f"{module.name}: {problem}" for problem in module.problems)
        for name in module.defined:
            if name in owners:
                found.append(f"{module.name}: {name} is also defined in {owners[name]}")
            owners[name] = module.name
    for name in sorted(RESERVED & set(owners)):
        found.append(f"{owners[name]}: {name} is a name of the bundle")
    bound: dict[str, Binding] = {}
    for module in modules:
        for binding in module.imports:
            other = bound.setdefault(binding.name, binding)
            if not other.agrees_with(binding):
                found.append(f"{module.name}: {binding.name} is something else in another file")
            if binding.name in owners:
                found.append(
                    f"{module.name}: import {binding.name} hides that of {owners[binding.name]}"
                )
        own = module.defined | {binding.name for binding in module.imports} | module.borrowed
        for piece in module.pieces:
            for name in sorted((piece.uses - own) & (set(owners) | set(bound))):
                where = owners.get(name, "an import elsewhere")
                found.append(f"{module.name}: {name} would be that of {where} (line {piece.line})")
        for name in sorted(module.borrowed - set(owners)):
            found.append(f"{module.name}: imports {name}, which no file defines")
    return found


def _public(text: str) -> dict[str, str]:
    """The public names of the runtime, with the names that they have in its files."""
    public = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(PACKAGES):
            for alias in statement.names:
                public[alias.asname or alias.name] = alias.name
    return public


def _in_order(modules: Mapping[str, Module]) -> list[Module]:
    """The modules, each after those that it imports from."""
    ordered: dict[str, Module] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for other in modules[name].needs:
                add(other)
            ordered[name] = modules[name]

    for name in sorted(modules):
        if name != "__init__":
            add(name)
    return list(ordered.values())


def _needed(modules: Iterable[Module], names: set[str]) -> list[Piece]:
    """The pieces that define the names, and those that they use in turn, in order."""
    pieces = [piece for module in modules for piece in module.pieces]
    wanted, kept = set(names), set[int]()
    grown = True
    while grown:
        grown = False
        for index, piece in enumerate(pieces):
            if index not in kept and piece.serves & wanted:
                kept.add(index)
                wanted |= piece.uses
                grown = True
    return [pieces[index] for index in sorted(kept)]


def _import_lines(modules: Iterable[Module], kept: Collection[Piece]) -> Iterator[str]:
    """The imports that the pieces use, the standard library's first."""
    plain: set[str] = set()
    members: dict[str, set[str]] = {}
    for module in modules:
        used = {name for piece in kept if piece.module == module.name for name in piece.uses}
        for binding in module.imports:
            if binding.name in used and not binding.member:
                plain.add(binding.text)
            elif binding.name in used:
                members.setdefault(binding.source, set()).add(binding.member_text)
    lines = [*plain, "import types"]
    lines += [
        f"from {source} import {', '.join(sorted(names))}" for source, names in members.items()
    ]
    for foreign in (False, True):
        for text in sorted(set(lines), key=lambda text: (text.startswith("from"), text)):
            if (text.split()[1].partition(".")[0] not in sys.stdlib_module_names) is foreign:
                yield text


def _indented(block: str) -> str:
    """The block four columns to the right; the insides of long strings stay as they are."""
    docstrings = {
        node.lineno
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(block).readline):
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE"):
            first, last = token.start[0], token.end[0]
            if first not in docstrings:
                inside.update(range(first + 1, last + 1))
    return "\n".join(
        line if not line or number in inside else f"    {line}"
        for number, line in enumerate(block.split("\n"), start=1)
    )
