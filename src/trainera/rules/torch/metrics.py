"""A figure of a slice becomes the figure of the batch before anyone sees it.

**What.** Where a value of one worker's slice would be printed, logged, compared or stored,
`loader.mean(…)`, `loader.sum(…)` or `loader.gather(…)` is put around it; around a tuple or dict
of such values `loader.combine(…)`.

**Why.** Nobody wants the loss of one worker's share. And a decision (stop early, keep the best,
lower the learning rate) taken from it would be taken differently by different workers, which
hangs the run.

**Example.**

    -     losses.append(loss.item())
    +     losses.append(train_loader.mean(loss.item()))

What a statement asks for several times is made whole once, on a line before it:

    -     similar = z @ z.T
    +     all_z = loader.gather(z)
    +     similar = all_z @ all_z.T

Figures that stand side by side, as arguments or items of a tuple, travel in one exchange:

    -     print(epoch, loss_d.item(), loss_g.item())
    +     print(epoch, *loader.mean(loss_d.item(), loss_g.item()))

**Safety.** Every worker gets the same bits. A mean is weighted by the slices' sizes, counts are
added, rows are put together in the order of the batch.

**Limits.** One exchange for every value and step that stands apart from others; running totals do
better (see `tally`).
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options, Replace
from trainera.read.facts import Escape, Facts, by_node
from trainera.read.source.file import SourceFile
from trainera.rules.torch._together import side_by_side
from trainera.rules.torch._tools import Finding, Words, before, edit, refuse, wrap

NAME = "metrics"

REFUSALS = {
    "names-at-run-time": Words(
        what="variables are reached by names that the analysis cannot follow",
        why="some of them are of one worker's share of the batch",
        do="name the variables in the code itself",
    ),
    "changed-copy": Words(
        what="something of a batch is changed in place here",
        why="the whole batch's would be a copy, and the change lost with it",
        do="make a new one instead, such as sorted(x) or x + [y], and give it a name",
    ),
    "object-handed-over": Words(
        what="an object that holds something of a batch is kept or handed over here",
        why="what is done with it there cannot be seen",
        do="keep or hand over the values themselves",
    ),
    "share": Words(
        what="a value of one worker's share is used here",
        why="{why}",
        do="{do}",
    ),
}
REASONS = {
    "combine": "each part made whole: the mean, the sum or the rows of the whole batch",
    "mean": "the mean over the whole batch, not over one worker's slice",
    "sum": "the sum over the whole batch, not over one worker's slice",
    "gather": "the rows of the whole batch, in order, not one worker's slice",
    "gather_picked": "the rows that were picked of the whole batch, in order",
}
TOGETHER = "the figures of the whole batch, not of one worker's slice, in one exchange"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    plain = {node for _, node in facts.plain}
    whole: dict[ast.AST, Escape] = {}
    often: dict[tuple[SourceFile, ast.stmt, str, str], list[ast.Name]] = defaultdict(list)
    for node, records in by_node(facts.escapes):
        forms = {(record.method, record.text, record.how) for record in records}
        record = next(iter(records))
        if len(forms) > 1 or node in plain or facts.also_without(node, facts.escapes):
            yield refuse(
                NAME,
                record.file,
                node,
                "this code is given shares of a batch and whole values",
                "which of them it works on cannot be told here",
                "call it with one kind of value only",
            )
            continue
        whole[node] = record
    together = {one: action for group in side_by_side(whole) for one, action in group.edits()}
    for node, record in whole.items():
        method, text, how = record.method, record.text, record.how
        template = f"{text}.{method}({{}}, {how})" if how else f"{text}.{method}({{}})"
        if node in together:
            action = together[node]
            if action.head or action.tail:
                yield edit(NAME, record.file, node, action, TOGETHER, (CREW,))
        elif method == "gather" and isinstance(node, ast.Name):
            statement = record.file.statement_of(node)
            often[record.file, statement, node.id, template].append(node)
        else:
            yield edit(NAME, record.file, node, wrap(template), REASONS[method], (CREW,))
    named: dict[SourceFile, set[str]] = {}
    for (file, statement, name, template), nodes in often.items():
        reason = REASONS["gather"]
        if len(nodes) < 2 or not _asked_in_any_case(nodes, statement, file):
            for node in nodes:
                yield edit(NAME, file, node, wrap(template), reason, (CREW,))
            continue
        new = _new_name(f"all_{name}", named.setdefault(file, _all_names(file)))
        text = f"{new} = " + template.replace("{}", name)
        yield edit(NAME, file, statement, before(text), reason, (CREW,))
        for node in nodes:
            yield edit(NAME, file, node, Replace(text=new), reason, ())


SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return
PERHAPS = (
    ast.Lambda
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
    | ast.IfExp
    | ast.BoolOp
    | ast.Compare
    | ast.Await
    | ast.Yield
    | ast.YieldFrom
)
"""What may leave out a part of itself, or do it more than once."""


def _asked_in_any_case(nodes: list[ast.Name], statement: ast.stmt, file: SourceFile) -> bool:
    """Whether a statement asks for a variable at all these places, once each, and for the same."""
    if not isinstance(statement, SIMPLE):
        return False
    for node in nodes:
        above = file.parents[node]
        while above is not statement:
            if isinstance(above, PERHAPS):
                return False
            above = file.parents[above]
    return not any(_may_change(part, nodes) for part in ast.walk(statement))


def _may_change(part: ast.AST, nodes: list[ast.Name]) -> bool:
    """Whether a variable may be another before all that ask for it have been answered."""
    if isinstance(part, ast.NamedExpr):
        return part.target.id == nodes[0].id
    if not isinstance(part, ast.Call) or (
        isinstance(part.func, ast.Name) and part.func.id == "len"
    ):
        return False
    given = [*part.args, *(keyword.value for keyword in part.keywords)]
    if isinstance(part.func, ast.Attribute) and part.func.attr.endswith("_"):
        given.append(part.func.value)
    return any(
        isinstance(one, ast.Name) and one.id == nodes[0].id and one not in nodes for one in given
    )


def _all_names(file: SourceFile) -> set[str]:
    names = {node.id for node in file.nodes if isinstance(node, ast.Name)}
    return names | {node.arg for node in file.nodes if isinstance(node, ast.arg)}


def _new_name(name: str, taken: set[str]) -> str:
    """A name that nothing in the file has."""
    number = 2
    new = name
    while new in taken:
        new, number = f"{name}_{number}", number + 1
    taken.add(new)
    return new
