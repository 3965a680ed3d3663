"""What can be told of a function, or of a call, by looking at it."""

import ast

from trainera.read import tables
from trainera.read.inside import holds_share
from trainera.read.kinds import PLAIN, Bunch, Const, Iter, Kind, Share


def any_number(kind: Kind) -> Kind:
    """A function that calls itself counts something down: its end is not seen here."""
    number = isinstance(kind, Const) and type(kind.value) in (int, float)
    return PLAIN if number else kind


def goes_backward(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("backward", "step")
        for part in ast.walk(node)
    )


def makes_tensors(node: ast.AST) -> bool:
    """Whether a function makes tensors to a size, and remembers nothing."""
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for part in parts):
        return False
    makers = [part.func for part in parts if isinstance(part, ast.Call)]
    names = {ast.unparse(maker).rpartition(".")[2] for maker in makers}
    return bool(names & tables.MAKERS)


def generated(kind: Kind) -> Kind:
    """What calling a generator function gives."""
    if isinstance(kind, Share):
        return Iter(kind.loaders, kind)
    if isinstance(kind, Bunch) and holds_share(kind):
        share = next(item for item in kind.items if isinstance(item, Share))
        return Iter(share.loaders, kind)
    return PLAIN


def takes(spec: ast.arguments, node: ast.Call, bound: int) -> bool:
    """Whether a function can be called with these arguments, and `bound` more before them."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return True
    names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)][bound:]
    given = {keyword.arg for keyword in node.keywords} | set(names[: len(node.args)])
    needed = names[: len(names) - len(spec.defaults)]
    if len(node.args) > len(names) and spec.vararg is None:
        return False
    return None in given or set(needed) <= given


def makes_parameter(name: str, node: ast.Call) -> bool:
    """Whether a call makes a tensor that an optimizer may train."""
    return name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter") or any(
        keyword.arg == "requires_grad"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
        for keyword in node.keywords
    )
