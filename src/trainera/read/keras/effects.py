"""Where a Keras script reaches outside: files that it writes, downloads, clocks, names of its own.

Every worker runs the whole script, so what is asked is only who acts, not what the values are.
"""

import ast
from collections.abc import Iterator

from trainera.read.keras.facts import Spot
from trainera.read.libraries.effects import CLOCKS, DOWNLOADS, NAMES, ONCE, ONCE_METHODS
from trainera.read.source.file import SourceFile
from trainera.read.source.names import Names

Files = dict[str, SourceFile]

WRITES = ONCE | {
    *("keras.models.save_model", "keras.saving.save_model", "tensorflow.saved_model.save"),
    *("keras.utils.plot_model", "keras.utils.save_img", "keras.preprocessing.image.save_img"),
    *("tensorflow.io.write_file", "tensorflow.summary.create_file_writer"),
    "tensorflow.io.TFRecordWriter",
    *(
        f"tensorflow.io.gfile.{verb}"
        for verb in ("copy", "makedirs", "mkdir", "remove", "rename", "rmtree")
    ),
}
OPENERS = {"open": 1, "io.open": 1, "tensorflow.io.gfile.GFile": 1, "h5py.File": 1, "gzip.open": 1}
"""What opens a file, and where among its arguments the mode stands."""
OPENER_DEFAULTS = {"h5py.File": "r"}
ESTIMATORS = ("tensorflow.estimator.", "keras.estimator.", "tensorflow.compat.v1.estimator.")
FETCHES = DOWNLOADS | {"keras.utils.get_file", "tensorflow_datasets.load"}
SHOWN = {"print", "info", "debug", "warning", "error", "write", "set_description", "set_postfix"}
"""Calls whose arguments are only shown."""
FIGURES = {"abs", "divmod", "float", "format", "int", "max", "min", "round", "str", "strftime"}
FIGURES |= {"timedelta", "total_seconds", "append", "isoformat", "join"}


def name_of(names: Names, node: ast.expr) -> str:
    """The full name of what is called, with Keras by its own name; builtins by theirs."""
    if isinstance(node, ast.Name) and not names.of(node):
        return node.id
    return names.of(node).replace("tensorflow.keras.", "keras.")


def _calls(files: Files) -> Iterator[tuple[SourceFile, Names, ast.Call]]:
    for file in files.values():
        names = Names(file)
        for node in file.nodes:
            if isinstance(node, ast.Call):
                yield file, names, node


def _own_methods(files: Files) -> set[str]:
    """Functions and methods that the script defines itself: their bodies are read instead."""
    return {
        node.name
        for file in files.values()
        for node in file.nodes
        if isinstance(node, ast.FunctionDef)
    }


def writings(files: Files) -> Iterator[Spot]:
    """Calls that write files or make folders."""
    own = _own_methods(files)
    for file, names, call in _calls(files):
        name = name_of(names, call.func)
        if (name in WRITES and name not in own) or _mode(name, call) == "written":
            yield Spot(file, call)
        elif isinstance(call.func, ast.Attribute) and not names.of(call.func):
            method = call.func.attr
            if method in ONCE_METHODS - own or _writes_by_path(call):
                yield Spot(file, call)


def unclear_modes(files: Files) -> Iterator[Spot]:
    """Files of which it cannot be told whether they are read or written."""
    for file, names, call in _calls(files):
        if _mode(name_of(names, call.func), call) == "unknown":
            yield Spot(file, call)


def _mode(name: str, call: ast.Call) -> str:
    """What a call that opens a file is about to do: empty if it opens none."""
    place = OPENERS.get(name)
    return "" if place is None else _kind(call, place, OPENER_DEFAULTS.get(name, "r"))


def _writes_by_path(call: ast.Call) -> bool:
    """``path.open("w")``."""
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr == "open" and _kind(call, 0, "r") == "written"


def _kind(call: ast.Call, place: int, default: str) -> str:
    mode: ast.expr | None = call.args[place] if len(call.args) > place else None
    for keyword in call.keywords:
        if keyword.arg == "mode":
            mode = keyword.value
    if mode is None:
        return "read" if default == "r" else "written"
    if not isinstance(mode, ast.Constant) or not isinstance(mode.value, str):
        return "unknown"
    return "written" if set(mode.value) & set("wax+") else "read"


def fetches(files: Files) -> Iterator[Spot]:
    """Calls that download what is not there yet."""
    for file, names, call in _calls(files):
        name = name_of(names, call.func)
        datasets = name.startswith("keras.datasets.") and name.endswith(".load_data")
        if name in FETCHES or datasets:
            yield Spot(file, call)


def estimators(files: Files) -> Iterator[Spot]:
    """Where an Estimator is made: it trains by itself, past Keras."""
    for file, names, call in _calls(files):
        if name_of(names, call.func).startswith(ESTIMATORS):
            yield Spot(file, call)


def own_values(files: Files) -> Iterator[Spot]:
    """Values that each process would have for itself, where something may hang on them.

    Names of temporary files always; clocks, if what they tell reaches more than printed text.
    """
    for file in files.values():
        names = Names(file)
        calls = [node for node in file.nodes if isinstance(node, ast.Call)]
        clocks = [call for call in calls if name_of(names, call.func) in CLOCKS]
        for call in calls:
            if name_of(names, call.func) in NAMES:
                yield Spot(file, call)
        if clocks and _matters(file, clocks):
            yield from (Spot(file, call) for call in clocks)


def _matters(file: SourceFile, clocks: list[ast.Call]) -> bool:
    """Whether what clocks tell decides something or is handed to other code."""
    told: set[str] = set()
    marks = set(map(id, clocks))

    def touched(node: ast.AST) -> bool:
        return any(
            id(part) in marks
            or (isinstance(part, ast.Name) and part.id in told)
            or (isinstance(part, ast.Attribute) and part.attr in told)
            for part in ast.walk(node)
        )

    for _ in range(len(file.nodes)):
        before = len(told)
        for node in file.nodes:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and value is not None:
                if touched(value):
                    told |= set(_targets(node))
        if len(told) == before:
            break
    for node in file.nodes:
        if isinstance(node, ast.If | ast.While | ast.IfExp) and touched(node.test):
            return True
        if isinstance(node, ast.Return) and node.value is not None and touched(node.value):
            return True
        if isinstance(node, ast.Call) and id(node) not in marks:
            last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            last = node.func.id if isinstance(node.func, ast.Name) else last
            if last not in SHOWN | FIGURES and any(map(touched, _arguments(node))):
                return True
    return False


def _targets(node: ast.AST) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        for part in ast.walk(target) if target is not None else ():
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id
            elif isinstance(part, ast.Attribute):
                yield part.attr


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
