"""Whether a function is linear in what it is given, so that sums of it may be taken apart."""

import ast

from trainera.read.source.syntax import parts_of

KEEPS = frozenset(
    """neg clone view view_as reshape reshape_as expand expand_as sum mean mm matmul bmm t transpose
    permute mul div add sub where masked_fill masked_fill_ contiguous to float double half type_as
    flatten unsqueeze squeeze detach einsum index_select gather scatter_add index_add zeros_like
    ones_like empty_like new_zeros conv2d conv1d conv_transpose2d conv_transpose1d linear cpu cuda
    chunk split unbind cumsum flip roll cat stack pad unfold fold size dim type is_contiguous
    conv2d_input conv2d_weight conv1d_input conv1d_weight mul_ div_ neg_ repeat tuple list
    __and__""".split()
)
"""Operations that are linear in each tensor that they are given, or look at its size alone."""
PRODUCTS = ast.Mult | ast.MatMult | ast.Div | ast.FloorDiv | ast.Mod


def is_linear(function: ast.FunctionDef, skipped: int = 1) -> bool:
    """Whether it is seen to be linear in its parameters, the first ones left out."""
    names = {one.arg for one in function.args.args[skipped:]}
    if function.args.vararg is not None:
        names.add(function.args.vararg.arg)
    for node in sorted(parts_of(function), key=lambda one: getattr(one, "lineno", 0)):
        if isinstance(node, ast.Assign) and _mentions(node.value, names):
            for target in node.targets:
                names |= {one.id for one in parts_of(target) if isinstance(one, ast.Name)}
    return all(_keeps(node, names) for node in parts_of(function))


def _keeps(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Call):
        if not _mentions(node, names):
            return True
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in KEEPS
    if isinstance(node, ast.BinOp) and isinstance(node.op, PRODUCTS):
        left, right = _mentions(node.left, names), _mentions(node.right, names)
        return (
            not right if not isinstance(node.op, ast.Mult | ast.MatMult) else not (left and right)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return not _mentions(node, names)
    if isinstance(node, ast.Compare):
        looks_at_it = any(_mentions(one, names) for one in (node.left, *node.comparators))
        return not looks_at_it or isinstance(node.ops[0], ast.Is | ast.IsNot)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, PRODUCTS):
        return not _mentions(node.value, names)
    return True


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in parts_of(node))
