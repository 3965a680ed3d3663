"""A network is handed to the engine before it is compiled.

**What.** `model = tnt.Model(model)` stands before `model.compile(…)`.

**Why.** Tarantella's network has the methods of Keras's. Its `compile` takes the optimizer, so that
gradients are averaged over all processes, and its `fit` gives each of them its part of every batch.

**Example.**

    +model = tnt.Model(model)
     model.compile("sgd", "mse")

**Safety.** It is handed over once: where the same name is compiled again (to go on with other
layers frozen), nothing is added. Arrays are refused, because Tarantella takes pipelines of batches
only; so are files that a process writes while others wait elsewhere (`once`).

**Limits.** Whoever still has the network by another name has it as it was, and would train it past
Tarantella: so a network that a function is given is refused, unless the function returns it.
Refused as well: networks without a name, `self`, and what is compiled in each round of a loop but
made before it. Other engines need none of this.
"""

import ast
from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.facts import KerasFacts, Spot
from trainera.read.keras.networks import compilations, from_python, given, last_name, uses
from trainera.rules.common._tools import Finding, before, edit, refuse

NAME = "network"
ARRAYS = {"y", "batch_size", "sample_weight", "validation_split", "validation_batch_size"}


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if engine.network is None:
        return
    yield from _arrays(facts, engine)
    handed: set[tuple[str, ast.AST | None, str]] = set()
    found = False
    for spot in compilations(facts.files):
        found = True
        assert isinstance(spot.node, ast.Call) and isinstance(spot.node.func, ast.Attribute)
        receiver = spot.node.func.value
        text = ast.unparse(receiver)
        if trouble := _trouble(spot, receiver):
            why = f"{engine.title} has to take its place before it is compiled"
            yield refuse(NAME, spot.file, spot.node, trouble, why, "compile it where it is made")
            continue
        scope = spot.file.function_of(spot.node)
        key = (spot.file.name, scope, text)
        if key in handed and not _made_between(spot, text):
            continue
        handed.add(key)
        yield edit(
            NAME,
            spot.file,
            spot.file.statement_of(spot.node),
            before(f"{text} = {engine.network.text.format(text)}"),
            "the same network, which each process trains with its part of every batch",
            engine.network.imports,
        )
    if not found:
        yield refuse(
            NAME,
            facts.script,
            facts.script.tree.body[0],
            "no compile() of a network is found",
            f"{engine.title} has to take its place before it is compiled",
            "compile the network in the script",
        )


def _trouble(spot: Spot, receiver: ast.expr) -> str:
    """Why the name of a network cannot be given to another one."""
    if not isinstance(receiver, ast.Name | ast.Attribute):
        return "the network that is compiled has no name"
    text = ast.unparse(receiver)
    if text == "self":
        return "a network compiles itself"
    loop = spot.file.innermost_loop(spot.node)
    if loop is not None and not any(_assigns(node, text) for node in ast.walk(loop)):
        return "a network that was made before a loop is compiled in each of its rounds"
    function = spot.file.function_of(spot.node)
    if function is not None and text in {
        one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)
    }:
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
        if not returned or any(one is None or ast.unparse(one) != text for one in returned):
            return "a function compiles a network that it was given"
    return ""


def _made_between(spot: Spot, text: str) -> bool:
    """Whether the name was given to another network since it was compiled before."""
    scope = spot.file.function_of(spot.node) or spot.file.tree
    lines = [
        node.func.value.end_lineno or 0
        for node in ast.walk(scope)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "compile"
        and ast.unparse(node.func.value) == text
    ]
    own = spot.node.lineno  # type: ignore[attr-defined]
    last = max((line for line in lines if line < own), default=0)
    return any(_assigns(node, text) and last < node.lineno <= own for node in ast.walk(scope))  # type: ignore[attr-defined]


def _assigns(node: ast.AST, text: str) -> bool:
    targets = list(node.targets) if isinstance(node, ast.Assign) else []
    targets += [node.target] if isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.For) else []
    parts = [
        part
        for target in targets
        for part in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
    ]
    return any(ast.unparse(part) == text for part in parts)


def _arrays(facts: KerasFacts, engine: KerasEngine) -> Iterator[Finding]:
    """What is given to `fit` and its like in another form than a pipeline of batches."""
    python = from_python(facts.files)
    for spot in uses(facts.files, {"fit", "evaluate", "predict"}):
        call = spot.node
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        validation = words.get("validation_data")
        tuples = isinstance(validation, ast.Tuple | ast.List)
        if len(call.args) > 1 or ARRAYS & set(words) or tuples:
            yield refuse(
                NAME,
                spot.file,
                call,
                f"{call.func.attr}() is given arrays",
                f"{engine.title} takes nothing but tf.data with batches, of which it gives each "
                "process its part",
                "give it tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=1)"
                ".batch(32), without batch_size",
            )
        elif any(
            isinstance(one, ast.Call) and last_name(one.func) in python for one in given(spot)
        ):
            yield refuse(
                NAME,
                spot.file,
                call,
                f"{call.func.attr}() is given batches that Python makes",
                f"{engine.title} takes nothing but tf.data, of which each process is given a part",
                "make a pipeline of tf.data that ends in .batch(n)",
            )
