"""The runtime can be written into a script: what that asks of its source."""

import ast
from pathlib import Path

import trainera

FOLDER = Path(trainera.__file__).parent / "crew"
FILES = {path.stem: ast.parse(path.read_text()) for path in FOLDER.glob("*.py")}
PARTS = {name: tree for name, tree in FILES.items() if name != "__init__"}


def inner_imports(tree: ast.Module) -> list[ast.ImportFrom]:
    return [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trainera")
    ]


def top_level_names(tree: ast.Module) -> list[str]:
    names = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return names


def test_no_two_files_define_the_same_name() -> None:
    names = [name for tree in PARTS.values() for name in top_level_names(tree)]
    assert sorted(names) == sorted(set(names))


def test_no_globals_and_no_imports_but_at_the_top() -> None:
    for name, tree in PARTS.items():
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Global), name
            if isinstance(node, ast.ImportFrom):
                assert node.module != "__future__" and node.level == 0, name
                if (node.module or "").startswith("trainera"):
                    assert node in tree.body, name
                    assert all(alias.asname is None for alias in node.names), name


def test_all_parts_together_run_inside_one_function() -> None:
    ordered: list[str] = []

    def add(name: str) -> None:
        for node in inner_imports(PARTS[name]):
            needed = (node.module or "").rpartition(".")[2]
            if needed not in ordered:
                add(needed)
        if name not in ordered:
            ordered.append(name)

    for name in PARTS:
        add(name)
    body: list[ast.stmt] = []
    for name in ordered:
        skipped = inner_imports(PARTS[name])
        body += [node for node in PARTS[name].body if node not in skipped]
    function = ast.parse("def bundle():\n    return locals()").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = body + function.body
    module = ast.fix_missing_locations(ast.Module([function], []))
    namespace: dict[str, object] = {"__name__": "script"}
    exec(compile(module, "bundle", "exec"), namespace)
    names = namespace["bundle"]()  # type: ignore[operator]
    public = ast.literal_eval(
        next(n.value for n in FILES["__init__"].body if isinstance(n, ast.Assign))
    )
    assert set(public) <= set(names)
    names["CREW"].size = 1
    assert names["sum"](1, 2.0) == (1, 2.0)
    assert names["agree"](5) == 5


def test_files_are_small() -> None:
    for path in FOLDER.glob("*.py"):
        assert len(path.read_text().splitlines()) < 300, path.name
