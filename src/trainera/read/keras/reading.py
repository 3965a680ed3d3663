"""Reads a Keras script.

On JAX the layout of an array over devices never changes what is computed with it. So nothing has to
be known of values here, only where batches enter: mistaking something else for a batch costs time,
and nothing else.
"""

import ast
from collections.abc import Iterator

from trainera.read.keras.facts import KerasFacts, Spot
from trainera.read.source.file import SourceFile
from trainera.read.source.names import Names

TRAINING = {"fit", "fit_generator", "train_on_batch"}
TRANSFORMED = {"jax.jit", "jax.grad", "jax.value_and_grad"}
ARRAYS = {"asarray", "array", "convert_to_tensor", "convert_to_numpy", "device_put"}
RETYPED = {"numpy", "astype", "copy"}
TAPE = "tensorflow.GradientTape"
OF_TENSORFLOW = ("tensorflow.keras", TAPE)
BACKEND = "KERAS_BACKEND"
HOMES = ("keras.", "tensorflow.keras")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KERAS = ("keras", "tensorflow.keras", "tensorflow.compat.v2.keras")


def read(files: dict[str, SourceFile]) -> KerasFacts:
    """The facts of a script and its own modules."""
    backend, name = _backend(files)
    return KerasFacts(
        files=files,
        backend=backend,
        backend_name=name,
        chooses_backend=next(_choices(files), None) is not None,
        first_import=_first_import(files["__main__"]),
        keras_name=Names(files["__main__"], top=True).bound_to(*KERAS),
        tensorflow_name=Names(files["__main__"], top=True).bound_to("tensorflow"),
        trainings=tuple(_calls(files, TRAINING)),
        batches=tuple(spot for file in files.values() for spot in _batches(file, files)),
        tapes=tuple(_tapes(files)),
    )


def _backend(files: dict[str, SourceFile]) -> tuple[Spot | None, str]:
    """Where ``os.environ["KERAS_BACKEND"]`` is set, and to what if that can be read.

    Failing that, where Keras is taken from TensorFlow.
    """
    for spot, value in _choices(files):
        return spot, str(value.value if isinstance(value, ast.Constant) else "")
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom) and _by_tensorflow(node):
                return Spot(file, node), "tensorflow"
    for file in files.values():
        names = Names(file)
        for node in file.nodes:
            if isinstance(node, ast.Attribute) and names.of(node) in OF_TENSORFLOW:
                return Spot(file, node), "tensorflow"
    return None, ""


def _choices(files: dict[str, SourceFile]) -> Iterator[tuple[Spot, ast.expr]]:
    """Where ``os.environ["KERAS_BACKEND"]`` is set, and to what."""
    for file in files.values():
        for node in file.nodes:
            value: ast.expr | None = None
            if isinstance(node, ast.Assign) and _names_backend(node.targets[0]):
                value = node.value
            elif isinstance(node, ast.Call) and node.args and _is_backend(node.args[0]):
                value = node.args[1] if len(node.args) > 1 else None
            if value is not None:
                yield Spot(file, node), value


def _by_tensorflow(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether Keras is imported as a part of TensorFlow."""
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        own = module == "tensorflow" and any(alias.name == "keras" for alias in node.names)
        return own or module.startswith("tensorflow.keras")
    return any(alias.name.startswith("tensorflow.keras") for alias in node.names)


def _first_import(script: SourceFile) -> ast.stmt | None:
    for statement in script.tree.body:
        for node in ast.walk(statement) if not isinstance(statement, DEFINITIONS) else ():
            names = [
                alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)
            ]
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names]
            if any(name == "keras" or name.startswith(HOMES) for name in names):
                return statement
    return None


def _names_backend(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and _is_backend(target.slice)


def _is_backend(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == BACKEND


def _calls(files: dict[str, SourceFile], methods: set[str]) -> Iterator[Spot]:
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in methods:
                    yield Spot(file, node)


def _tapes(files: dict[str, SourceFile]) -> Iterator[Spot]:
    for file in files.values():
        names = Names(file)
        for node in file.nodes:
            if isinstance(node, ast.Call) and names.of(node.func) == TAPE:
                yield Spot(file, node)


def _batches(file: SourceFile, files: dict[str, SourceFile]) -> Iterator[Spot]:
    """Arguments of transformed functions that are made of what a loop goes through."""
    known = {name for one in files.values() for name in _transformed(one)}
    for node in file.nodes:
        if not isinstance(node, ast.Call) or _last_name(node.func) not in known:
            continue
        loop = file.innermost_loop(node)
        if loop is None:
            continue
        current = _given_by(loop)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if _is_batch(_bare(argument), current):
                yield Spot(file, argument)


def _transformed(file: SourceFile) -> Iterator[str]:
    """Names of functions that JAX compiles or differentiates."""
    names = Names(file)
    for node in file.nodes:
        if isinstance(node, ast.FunctionDef):
            if any(_transforms(decorator, names) for decorator in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign) and _transforms(node.value, names):
            yield from filter(None, map(_last_name, node.targets))


def _transforms(node: ast.expr, names: Names) -> bool:
    """``jax.jit``, ``jax.jit(…)``, ``partial(jax.jit, …)``."""
    if isinstance(node, ast.Call):
        return any(_transforms(part, names) for part in (node.func, *node.args[:1]))
    return names.of(node) in TRANSFORMED


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _given_by(loop: ast.AST) -> set[str]:
    """Names that a loop gives anew in each round: its targets, and what is taken from those."""
    found: set[str] = set()
    before = -1
    while before < len(found):
        before = len(found)
        for node in ast.walk(loop):
            targets: list[ast.expr] = []
            if isinstance(node, ast.For):
                targets = [node.target]
            elif isinstance(node, ast.Assign) and (
                _takes_next(node.value) or _is_batch(_bare(node.value), found)
            ):
                targets = node.targets
            for part in (part for target in targets for part in ast.walk(target)):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    found.add(part.id)
    return found


def _bare(node: ast.expr) -> ast.expr:
    """An array as such: ``x`` of ``jnp.asarray(x)``, ``x.numpy()`` and ``x.astype("float32")``."""
    while isinstance(node, ast.Call):
        if _last_name(node.func) in ARRAYS and node.args:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in RETYPED:
            node = node.func.value
        else:
            break
    return node


def _takes_next(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) == "next"


def _is_batch(node: ast.expr, current: set[str]) -> bool:
    """What the loop gives, a part of it, several, or rows chosen by it: ``x[i : i + 32]``."""
    if isinstance(node, ast.Name):
        return node.id in current
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(_is_batch(_bare(part), current) for part in node.elts)
    if isinstance(node, ast.Dict):
        return bool(node.values) and all(_is_batch(_bare(part), current) for part in node.values)
    if isinstance(node, ast.Subscript):
        return _is_batch(_bare(node.value), current) or any(
            isinstance(part, ast.Name) and part.id in current for part in ast.walk(node.slice)
        )
    return False
