"""What an expression looks like. No knowledge of what it means."""

import ast
from functools import lru_cache


@lru_cache(maxsize=2048)
def parts_of(node: ast.AST) -> tuple[ast.AST, ...]:
    """A node and all below it; the same code is looked at again and again."""
    return tuple(ast.walk(node))


@lru_cache(maxsize=2048)
def text_of(node: ast.AST) -> str:
    """A node as source. Whole classes are searched for a word whenever a network is called."""
    return ast.unparse(node)


@lru_cache(maxsize=1024)
def names_in(node: ast.AST) -> frozenset[str]:
    """The names in a piece of code. It is asked for again and again."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *COMPREHENSIONS)


@lru_cache(maxsize=4096)
def free_names(scope: ast.AST) -> frozenset[str]:
    """The names of a function or comprehension that it finds outside of itself."""
    found: set[str] = set()
    bound: set[str] = set()
    outside: set[str] = set()
    spec = getattr(scope, "args", None)
    if isinstance(spec, ast.arguments):
        given = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
        bound.update(one.arg for one in given if one is not None)
    left = list(ast.iter_child_nodes(scope))
    while left:
        part = left.pop()
        if isinstance(part, SCOPES):
            found |= free_names(part)
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                bound.add(part.name)
            continue
        if isinstance(part, ast.Nonlocal | ast.Global):
            outside.update(part.names)
        elif isinstance(part, ast.Name):
            (found if isinstance(part.ctx, ast.Load) else bound).add(part.id)
        left.extend(ast.iter_child_nodes(part))
    return frozenset(found - (bound - outside))


@lru_cache(maxsize=1024)
def methods_of(cls: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The methods of a class by name; of several of one name the last, as Python has it.

    What sets or deletes a property has its name, but is not what is found under it.
    """
    methods = (part for part in cls.body if isinstance(part, ast.FunctionDef))
    return {method.name: method for method in methods if not _stands_beside(method)}


BESIDE = ("setter", "deleter", "overload", "register")
"""The last words of decorators of what shares a name with something else."""


def _stands_beside(method: ast.FunctionDef) -> bool:
    decorators = [one.func if isinstance(one, ast.Call) else one for one in method.decorator_list]
    return any(ast.unparse(one).rpartition(".")[2] in BESIDE for one in decorators)


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


def is_entry(target: ast.expr) -> bool:
    """Whether something is put into a dictionary under a name that stands there."""
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and isinstance(target.slice.value, str)
        and isinstance(target.value, ast.Name | ast.Attribute)
    )


def entry(target: ast.Subscript) -> str:
    """What an entry of an object's dictionary is called among its attributes."""
    assert isinstance(target.value, ast.Attribute)
    return f"{target.value.attr}[{ast.unparse(target.slice)}]"


def is_namespace(node: ast.expr) -> bool:
    """Whether an expression is all variables by name."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("globals", "locals", "vars")
        and not node.args
    )


def is_factor(node: ast.expr) -> bool:
    """Whether an expression can be a factor of a product without parentheses."""
    return isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript | ast.Constant) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
    )


def field_names(cls: ast.ClassDef) -> list[str]:
    """The fields of a data class or a typed named tuple, in order."""
    return [
        statement.target.id
        for statement in cls.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]


def named_fields(made: ast.AST) -> list[str]:
    """The fields of ``namedtuple("Output", ["loss", "logits"])``."""
    if not isinstance(made, ast.Call) or len(made.args) < 2:
        return []
    if ast.unparse(made.func).rsplit(".", 1)[-1] != "namedtuple":
        return []
    fields = made.args[1]
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        return fields.value.replace(",", " ").split()
    if isinstance(fields, ast.List | ast.Tuple):
        return [str(item.value) for item in fields.elts if isinstance(item, ast.Constant)]
    return []


def of_views(node: ast.BinOp) -> bool:
    """Whether two views of dictionaries are combined, as in ``a.keys() & b.keys()``."""
    return isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.Sub) and any(
        isinstance(side, ast.Call)
        and isinstance(side.func, ast.Attribute)
        and side.func.attr in ("keys", "items")
        for side in (node.left, node.right)
    )


def dotted(node: ast.AST) -> bool:
    """Whether an expression is a name or names joined by dots."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def keyword_of(node: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((word.value for word in node.keywords if word.arg == name), None)
