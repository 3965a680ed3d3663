"""The structure of the code: who may import whom, and how large a class may grow.

`docs/architecture.md` tells what each package is for. A new edge in the graph is a decision: who
needs one adds it here, and sees what it does to the whole.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "trainera"
SCRIPTS = SOURCE / "workloads"
"""What is benchmarked: scripts as users write them."""
MAX_LINES = 400
MAX_METHODS = 40
MAX_BASES = 2
MUTATORS = {"add", "append", "clear", "discard", "extend", "pop", "setdefault", "update"}

EDGES = {
    "__main__": "cli",
    "bench": "errors launch read.source results store",
    "cli": ". bench engines errors install launch pipeline plan read.source report rewrite rules "
    "store verify",
    "crew": "",
    "engines": "errors",
    "errors": "",
    "install": "errors",
    "launch": "engines errors plan read.source rewrite",
    "jax_crew": "",
    "mirror_crew": "",
    "other_crew": "mirror_crew tf_crew",
    "pipeline": "engines frameworks plan planner read.source rewrite",
    "plan": "read.source",
    "frameworks": "engines errors plan read.batches read.facts read.keras read.reader read.source "
    "rules",
    "planner": "engines errors frameworks plan read.source",
    # None of what follows knows plans, rules or engines.
    "read.source": "errors",
    "read.values": "",
    "read.ops": "read.source read.values",
    "read.facts": "read.source read.values",
    "read.totals": "read.facts read.source read.values",
    "read.interpret": "errors read.facts read.ops read.source read.values",
    "read.batches": "read.facts read.interpret read.source read.values",
    "read.libraries": "read.facts read.interpret read.ops read.source read.values",
    "read.keras": "read.libraries read.source",
    "read.reader": "read.batches read.facts read.interpret read.libraries read.source read.values",
    "report": ". bench results",
    "results": "",
    "rewrite": ". plan read.source",
    "rules": "engines plan read.facts read.interpret read.keras read.libraries read.source "
    "read.totals read.values",
    "store": "errors results",
    "tf_crew": "",
    "verify": "crew errors launch plan",
}
"""What each package imports; of `read` each part. The dot is the package's own `__init__`."""


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the package by its name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        if SCRIPTS not in path.parents:
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_bytes())
    return found


def package_of(module: str) -> str:
    _, *parts = module.split(".")
    return ".".join(parts[: 2 if parts[:1] == ["read"] else 1]) or "."


def imported(module: str) -> Iterator[str]:
    """The modules of the package that a module imports, those for type checkers apart."""
    tree = trees()[module]
    for_checkers = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_checkers:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in trees() else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def graph() -> dict[str, set[str]]:
    """Which package imports which."""
    found: dict[str, set[str]] = {}
    for module in trees():
        edges = found.setdefault(package_of(module), set())
        packages = {package_of(one) for one in imported(module) if one.startswith("trainera")}
        edges |= packages - {package_of(module)}
    return found


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield module, node


@pytest.mark.parametrize(
    "package", sorted({package_of(module) for module in trees()} - {".", "read"})
)
def test_no_package_imports_what_it_did_not_before(package: str) -> None:
    assert package in EDGES, "a new package: say in this table what it may import"
    assert graph()[package] <= set(EDGES[package].split())


def test_the_table_names_no_edge_that_is_gone() -> None:
    gone = {name: set(edges.split()) - graph().get(name, set()) for name, edges in EDGES.items()}
    assert not {name: edges for name, edges in gone.items() if edges}


def test_no_packages_import_each_other() -> None:
    assert [*TopologicalSorter(graph()).static_order()]


def test_modules_of_the_machine_and_of_values_do_not_import_each_other() -> None:
    inner = {
        module: {one for one in imported(module) if one in trees() and one != module}
        for module in trees()
        if module.startswith("trainera.read.")
    }
    assert [*TopologicalSorter(inner).static_order()]


def test_no_class_is_too_large() -> None:
    large = [
        (module, node.name)
        for module, node in classes()
        if (node.end_lineno or 0) - node.lineno >= MAX_LINES
        or sum(isinstance(part, ast.FunctionDef) for part in node.body) > MAX_METHODS
    ]
    assert not large


def test_no_class_stands_on_a_tower_of_others() -> None:
    bases = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for _, node in classes()
    }

    def height(name: str) -> int:
        return max((1 + height(base) for base in bases[name] if base in bases), default=0)

    assert not [name for name in bases if height(name) > MAX_BASES]


def test_no_method_is_a_stub() -> None:
    """A method that another class has to give makes two classes one in disguise."""
    stubs = [
        (module, node.name, method.name)
        for module, node in classes()
        for method in node.body
        if isinstance(method, ast.FunctionDef) and _only_raises(method)
    ]
    assert not stubs


def _only_raises(method: ast.FunctionDef) -> bool:
    documented = ast.get_docstring(method) is not None
    body = method.body[1:] if documented else method.body
    ends = "StopIteration"  # an iterator of nothing
    return bool(body) and isinstance(body[0], ast.Raise) and ends not in ast.unparse(body[0])


def test_facts_are_written_by_the_notes_alone() -> None:
    """What is on trial is forgotten by the notes; what went past them would stay."""
    writers = set()
    for module, tree in trees().items():
        for node in ast.walk(tree):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AugAssign):
                targets = [node.target]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                targets = [node.func.value] if node.func.attr in MUTATORS else []
            if any("notes.facts." in ast.unparse(target) for target in targets):
                writers.add(module)
    assert not writers
