"""The network is wrapped, so that its gradients are averaged over the workers.

**What.** The network goes into the engine's wrapper once it has its final form: after it was built,
moved to its device, changed in precision. `nn.DataParallel` is replaced.

**Why.** Every worker computes gradients from its slice of the batch. The wrapper averages them
while they are computed, and gives all workers the first one's weights to start from.

**Example.**

    - model = Net().to(device)
    + model = DistributedDataParallel(Net().to(device), broadcast_buffers=False)

Where the network is built in several lines, or the line would become long, it is wrapped on a line
of its own after that.

**Safety.** Buffers need no broadcast: batch normalisation keeps them equal (see `batchnorm`).

`find_unused_parameters=True` is added only where some layer may get no gradient in a step: an
output that does not reach the loss on every path, a branch in `forward` that leaves out a layer, a
layer that is never called. All paths from `backward()` back into the network are followed for that;
what cannot be followed counts as left out, because the wrapper would stop at the next step.

Where layers are frozen or freed while the script trains, the wrapper is told to expect it, and is
given those that are frozen at the start as well: `crew.with_frozen(DistributedDataParallel, …)`.

**Without a wrapper.** A wrapper averages what one call of the network gave, once. Where a script
calls layers apart from their network, goes backward through one call twice, or trains parameters
of no network, a note says so, the network stays as it is, and gradients are averaged when each
`backward()` ends:

    + model = crew.average_after_backward(Net())
    + optimizer = crew.average_after_backward(Adam([*model.parameters(), temperature]))

That is as right, and a little slower: workers do not compute while they exchange gradients.

**Limits.** A network that never gets a name of its own cannot be wrapped. For methods of the
network see `access`.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Keyword, Options, Unwrap
from trainera.read.facts import Carrier, Facts, Freeze, Spot
from trainera.read.values import Nodes
from trainera.rules.torch._idle import idle_layers
from trainera.rules.torch._tools import (
    Finding,
    Words,
    after,
    edit,
    own_line_target,
    rebinding,
    refuse,
    wrap,
)

NAME = "wrap"
REFUSALS = {
    "layer-replaced": Words(
        what="a layer is replaced after the network was wrapped",
        why="gradients of the new layer would not be averaged",
        do="put the network together before it is used or passed on",
    ),
}


def carriers(facts: Facts) -> dict[ast.AST, Carrier]:
    """For each trained network the place where it is wrapped."""
    found = {origin: carrier_of(facts, origin) for origin in in_order(facts.trained)}
    return {origin: carrier for origin, carrier in found.items() if carrier is not None}


def carrier_of(facts: Facts, origin: ast.AST) -> Carrier | None:
    """The place after which a network is complete and not in use yet."""
    places = _possible(facts, origin)
    if not places:
        return None
    found = [facts.carriers[place] for place in places]
    last = found[-1]
    if last.conditional:
        last = _after_condition(last, found) or last
    return _after_surgery(last, [n for n, one in frozen(facts, origin) if one.used])


def _possible(facts: Facts, origin: ast.AST) -> list[int]:
    """The numbers of the carriers after which a network may be wrapped."""
    before_use = facts.carriers[: facts.first_use.get(origin, len(facts.carriers))]
    found = [place for place, one in enumerate(before_use) if origin in one.models]
    return [place for place in found if not before_use[place].repeated] or found


def in_order(nodes: Nodes) -> list[ast.AST]:
    """As they stand in the source; a set has another order each time."""
    return sorted(nodes, key=_place)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _after_condition(last: Carrier, found: list[Carrier]) -> Carrier | None:
    """Where a network is moved under a condition, it is wrapped once the condition is over."""
    for carrier in reversed(found):
        if carrier.conditional or ast.unparse(carrier.target) != ast.unparse(last.target):
            continue
        siblings = _block_of(carrier)
        for statement in siblings:
            if last.file.within(last.node, statement):
                return Carrier(
                    node=statement,
                    target=carrier.target,
                    value=None,
                    file=carrier.file,
                    models=carrier.models,
                )
    return _after_branch(last)


def _after_branch(last: Carrier) -> Carrier | None:
    """The same where the network is made under a condition, too, and each branch makes one."""
    target = ast.unparse(last.target)
    made_of_itself = last.value is None or target in ast.unparse(last.value)
    node: ast.AST = last.node
    while isinstance(last.file.parents.get(node), ast.If):
        node = last.file.parents[node]
    around = last.file.parents.get(node)
    if not made_of_itself or not isinstance(around, ast.Module | ast.FunctionDef):
        return None
    assert isinstance(node, ast.stmt)
    return replace(last, node=node, value=None, conditional=False)


def frozen(facts: Facts, origin: ast.AST) -> Iterator[tuple[ast.AST, Freeze]]:
    """Where parameters of a network are frozen or freed."""
    return ((node, one) for (network, node), one in facts.freezes.items() if network is origin)


def _after_surgery(carrier: Carrier, later_on: list[ast.AST]) -> Carrier:
    """Layers are replaced or frozen before the network is wrapped, but for what is done later."""
    block, target = _block_of(carrier), ast.unparse(carrier.target)
    later = block[block.index(carrier.node) + 1 :] if carrier.node in block else []
    surgery = [
        statement
        for statement in later
        if _operates_on(statement, target)
        and not any(carrier.file.within(node, statement) for node in later_on)
    ]
    if not surgery:
        return carrier
    return replace(carrier, node=surgery[-1], value=None)


def _operates_on(statement: ast.stmt, target: str) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef) or _calls(statement, target):
        return False
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and node.attr in ("requires_grad", "requires_grad_"):
            if isinstance(node.ctx, ast.Store) or node.attr == "requires_grad_":
                return target in ast.unparse(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if ast.unparse(node.value) == target:
                return True
    return False


def _calls(statement: ast.stmt, target: str) -> bool:
    """Whether the network is in use there: gradients may be those of its input."""
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func) == target
        for node in ast.walk(statement)
    )


def freezes_later(facts: Facts, origin: ast.AST, carrier: Carrier) -> bool:
    """Whether parameters of a network are frozen or freed after it was wrapped."""
    made = _possible(facts, origin)[-1]
    return any(
        one.used or (one.carriers > made and not carrier.file.within(node, carrier.node))
        for node, one in frozen(facts, origin)
    )


def _loose(facts: Facts) -> Iterator[Finding]:
    """A parameter outside of forward() is fine as long as all layers get gradients."""
    late = any(freezes_later(facts, *pair) for pair in carriers(facts).items())
    for spot in facts.loose.values() if late or idle_layers(facts) else ():
        yield refuse(
            NAME,
            spot.file,
            spot.node,
            f"'{spot.what}' is used outside of a network that does not use all of its layers",
            "which gradients there will be in a step cannot be told beforehand",
            "use the parameter in forward(), or put it into a module of its own",
        )


def _block_of(carrier: Carrier) -> list[ast.stmt]:
    parent = carrier.file.parents[carrier.node]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and carrier.node in block:
            return block
    return []


def _without_parallel(spot: Spot, engine: TorchEngine) -> Finding:
    """DataParallel shares a batch among the devices of one process: each worker has one device."""
    if engine.wraps:
        reason = "DataParallel is replaced: each worker has one device"
        return edit(NAME, spot.file, spot.node, Unwrap(), reason, ())
    # The engine has no wrapper to take its place, and the script may ask for its `.module`.
    assert isinstance(spot.node, ast.Call)
    if len(spot.node.args) > 1:
        what, why = "DataParallel is given devices by position", "each worker has one device"
        do = "leave device_ids out, or give it by name"
        return refuse(NAME, spot.file, spot.node, what, why, do)
    action = Keyword(name="device_ids", value="crew.own_device()")
    reason = "each worker has one device, so that DataParallel has nothing to share out"
    return edit(NAME, spot.file, spot.node, action, reason, (CREW,))


def _free(spot: Spot) -> Finding:
    return refuse(
        NAME,
        spot.file,
        spot.node,
        "a parameter that belongs to no network is trained",
        "only the gradients of networks are averaged: each worker would go on with its own value",
        "make it an nn.Parameter of the network, or of a module whose forward() uses it",
    )


def _unclear(spot: Spot) -> Finding:
    return refuse(
        NAME,
        spot.file,
        spot.node,
        "this optimizer may train more than the networks that were seen",
        "what is in no wrapper would be trained by each worker for itself",
        "give it parameters() of networks, directly or in a list",
    )


def _read_by_hand(facts: Facts) -> Iterator[Finding]:
    """Gradients are averaged for what an optimizer trains."""
    for spot, networks in facts.grads.values():
        if networks - facts.trained:
            yield refuse(
                NAME,
                spot.file,
                spot.node,
                f"'{spot.what}' is read, but no optimizer is given that parameter",
                "its gradient is of one worker's share: those of what is trained are averaged",
                "give the parameter to a torch.optim optimizer",
            )


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    reason = "all start from the first worker's weights"
    if engine.wraps:
        reason = f"gradients are averaged over the workers; {reason}"
    done: set[tuple[ast.AST, str]] = set()
    chosen = carriers(facts)
    yield from _read_by_hand(facts)
    if engine.wraps:
        yield from _loose(facts)
        yield from map(_unclear, facts.unclear.values())
    for spot in facts.parallels.values():
        yield _without_parallel(spot, engine)
    for origin in in_order(facts.trained):
        if origin in facts.free:
            if engine.wraps:
                yield _free(facts.free[origin])
        elif origin in facts.aside and origin not in facts.first_use and engine.wraps:
            spot = facts.aside[origin]
            yield refuse(
                NAME,
                spot.file,
                spot.node,
                "a network is trained that is never called: only a part of it is used",
                "gradients are averaged when the network itself has been called",
                "call it, or move this computation into its forward()",
            )
        elif origin not in chosen:
            file = next(f for f in facts.files.values() if origin in f.parents)
            yield refuse(
                NAME,
                file,
                origin,
                "the network made here is trained, but where it gets a name is not clear",
                "it has to be wrapped before it is used",
                "assign it to a variable of its own before the training loop",
            )
    for origin, carrier in placed(facts, engine, options).items():
        if carrier.uncalled and engine.wraps:
            yield refuse(
                NAME,
                carrier.file,
                origin,
                "a list of networks is trained that is no network itself",
                "gradients are averaged when the network that is wrapped has been called",
                "put the networks into a module whose forward() calls them",
            )
            continue
        target = ast.unparse(carrier.target)
        if (carrier.node, target) in done:
            continue
        done.add((carrier.node, target))
        imports = engine.wrap.imports
        phrase, more = _phrase(facts, engine, origin, carrier)
        if carrier.value is not None:
            action = wrap(phrase)
            yield edit(NAME, carrier.file, carrier.value, action, reason + more, imports)
        else:
            text = rebinding(target, phrase, carrier.file.place(carrier.node).column)
            yield edit(NAME, carrier.file, carrier.node, after(text), reason + more, imports)
        if carrier.also is not None and engine.wraps:
            text, why = f"{carrier.also.id} = {target}", "the same network, by its other name"
            yield edit(NAME, carrier.file, carrier.node, after(text), why, ())


def placed(facts: Facts, engine: TorchEngine, options: Options) -> dict[ast.AST, Carrier]:
    """Where each network is wrapped, on a line of its own if it would be hard to read otherwise."""
    inner = "crew.batchnorm({})" if options.batchnorm == "global" and facts.statistics else "{}"
    found = {}
    for origin, carrier in carriers(facts).items():
        template = _phrase(facts, engine, origin, carrier)[0].replace("{}", inner)
        if carrier.value and own_line_target(carrier.file, carrier.value, template):
            carrier = replace(carrier, value=None)
        found[origin] = carrier
    return found


def _phrase(
    facts: Facts, engine: TorchEngine, origin: ast.AST, carrier: Carrier
) -> tuple[str, str]:
    """What goes around a network, and what there is to say about it."""
    if freezes_later(facts, origin, carrier):
        return engine.wrap_with_frozen_layers, "; some are frozen for a time"
    if idle_layers(facts):
        return engine.wrap_with_idle_layers, "; some layers get none"
    return engine.wrap.text, ""
