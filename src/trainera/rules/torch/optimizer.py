"""Each optimizer gets averaged gradients; those that evaluate the loss themselves are refused.

**What.** Where the engine averages in the optimizer and not in the network (Horovod, or DDP where a
wrapper around the network would not do, see `wrap`), every optimizer goes through the engine's
wrapper, with the names of its parameters. `LBFGS`, and `optimizer.step(closure)` of any optimizer,
are refused.

**Why.** A wrapper that is made but not used averages nothing, so the optimizer is wrapped where it
is made: schedulers and steps see no other. A closure computes the loss of one worker's slice, and
the optimizer decides from it how far to go; workers would decide differently.

**Example.** With `--engine horovod`:

    - optimizer = SGD(model.parameters(), lr=0.1)
    + optimizer = crew.averaged(hvd.DistributedOptimizer, SGD(model.parameters(), lr=0.1),
    +                           named_parameters=model.named_parameters())

    optimizer.step(closure)  # refused

**Safety.** Gradients are averaged when `backward()` ends, so that clipping, accumulation and steps
that are left out need no further change. All optimizers of `torch.optim` keep their state and its
keys.

**Limits.** Optimizers of other libraries are not known; without a known one a script is refused.
Where it cannot be seen of which networks the parameters are, they are named by their place.
"""

import ast
from collections.abc import Iterator

from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.read.source.file import SourceFile
from trainera.rules.torch._tools import Finding, Words, around, edit, refusal_of, wrap
from trainera.rules.torch.wrap import carriers

NAME = "optimizer"

REFUSALS = {
    "closure": Words(
        what="the optimizer's step is given a closure",
        why="it would evaluate the loss on one worker's share",
        do="compute loss and gradients before step() and call it without arguments",
    ),
    "lbfgs": Words(
        what="LBFGS evaluates the loss several times a step",
        why="its closure decides from one worker's share how far to go",
        do="use a first-order optimizer such as Adam or SGD",
    ),
}
ASSEMBLY = frozenset({"list", "tuple", "filter", "chain", "itertools"})
"""What may stand around parameters without adding any."""


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for trouble in facts.troubles.values():
        if trouble.rule == NAME:
            yield refusal_of(trouble, REFUSALS[trouble.code])
    if engine.optimizer is None:
        return
    for node in facts.optimizers:
        file = next(file for file in facts.files.values() if node in file.parents)
        assert isinstance(node, ast.Call)
        names = parameter_names(node, file) or _names_of_networks(node, file, facts)
        given = [engine.optimizer_names.format(names)] if names and engine.optimizer_names else []
        given += [engine.extras[name] for name in options.extras]
        further = "".join(f", {argument}" for argument in given)
        text = engine.optimizer.text.replace("{options}", further)
        reason = "its gradients are averaged over the workers as soon as they are computed"
        if options.lr == "keep":
            yield around(NAME, file, node, text, reason, engine.optimizer.imports)
        else:  # `scale` goes around that: it sets the rates of what the engine makes
            yield edit(NAME, file, node, wrap(text), reason, engine.optimizer.imports)


def parameter_names(call: ast.Call, file: SourceFile) -> str | None:
    """The names of the parameters that an optimizer is given; None if they cannot be told."""
    given = call.args[:1] or [word.value for word in call.keywords if word.arg == "params"]
    if not given or isinstance(given[0], ast.Starred):
        return None
    owners = _owners(_definition(given[0], call, file))
    return _joined(owners) if owners else None


def _names_of_networks(call: ast.Call, file: SourceFile, facts: Facts) -> str | None:
    """The names in the networks themselves, if these are variables where the optimizer is made."""
    chosen = carriers(facts)
    trained = facts.optimizers[call]
    if not trained or not trained <= set(chosen):
        return None
    found = [carrier for origin, carrier in chosen.items() if origin in trained]
    home = _scope(call, file)
    if any(carrier.file is not file or _scope(carrier.node, file) is not home for carrier in found):
        return None
    return _joined(list(dict.fromkeys(ast.unparse(carrier.target) for carrier in found)))


def _joined(owners: list[str]) -> str:
    if len(owners) == 1:
        return f"{owners[0]}.named_parameters()"
    return "[" + ", ".join(f'*{owner}.named_parameters("{owner}")' for owner in owners) + "]"


def _owners(given: ast.expr) -> list[str] | None:
    """The networks whose parameters, and nothing else, an expression is made of."""
    owners: dict[str, None] = {}
    inside: set[ast.AST] = set()
    for node in ast.walk(given):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "parameters" and not (node.args or node.keywords):
                owner = node.func.value
                if any(isinstance(part, ast.Call) for part in ast.walk(owner)):
                    return None
                owners[ast.unparse(owner)] = None
                inside.update(ast.walk(node))
    bound = {node.arg for node in ast.walk(given) if isinstance(node, ast.arg)}
    bound |= {
        node.id
        for node in ast.walk(given)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(given):
        if isinstance(node, ast.Name) and node not in inside and node.id not in bound | ASSEMBLY:
            return None
    if _depends_on(owners, bound):
        return None
    return list(owners)


def _depends_on(owners: dict[str, None], bound: set[str]) -> bool:
    """Whether an owner is a variable of a comprehension, which nobody outside knows."""
    return any(owner.partition(".")[0].partition("[")[0] in bound for owner in owners)


def _scope(node: ast.AST, file: SourceFile) -> ast.AST:
    """The function, or module, that a node stands in."""
    while node in file.parents and not isinstance(node, ast.FunctionDef | ast.Module):
        node = file.parents[node]
    return node


def _definition(given: ast.expr, call: ast.Call, file: SourceFile) -> ast.expr:
    """What a name stands for, if the same block of code says so, once."""
    if not isinstance(given, ast.Name):
        return given
    values = [
        node.value
        for node in ast.walk(_scope(call, file))
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == given.id for t in node.targets)
    ]
    return values[0] if len(values) == 1 else given
