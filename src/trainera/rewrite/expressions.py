"""How an expression is wrapped, handed through a function or given a keyword argument.

Parentheses are added where the new text would be read differently without them, which is found
out by asking Python's own parser, and nowhere else.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence

import libcst as cst

from trainera.plan import Enclose, Keyword, Through, Wrap
from trainera.read.source.positions import Span
from trainera.rewrite.text import Change
from trainera.rewrite.tree import Tree

_OPERATIONS = ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Await
_CLOSED = (
    ast.Call
    | ast.Attribute
    | ast.Subscript
    | ast.List
    | ast.Dict
    | ast.Set
    | ast.ListComp
    | ast.DictComp
    | ast.SetComp
    | ast.GeneratorExp
)
_LINE_BREAK_AFTER_PARENTHESIS = re.compile(r"[ \t]*(\r\n|\r|\n)([ \t]*)[^ \t\r\n#)]")


def spans_of(tree: Tree, node: cst.BaseExpression, ancestors: Sequence[cst.CSTNode]) -> list[Span]:
    """The spans by which a node may be named: its own, and that of `ast` where it is another.

    `ast` counts the parentheses of tuples and generators as theirs, even those of a call whose
    only argument is a generator.
    """
    spans = [tree.span(node)]
    if isinstance(node, cst.Tuple | cst.GeneratorExp) and node.lpar:
        spans.append(tree.paren_span(node))
    elif isinstance(node, cst.GeneratorExp) and len(ancestors) > 1:
        call = ancestors[-2]
        if isinstance(call, cst.Call) and isinstance(ancestors[-1], cst.Arg):
            spans.append((tree.start(call.whitespace_before_args) - 1, tree.end(call)))
    return spans


class Wrapping:
    """All that is put around one expression by its wraps."""

    def __init__(
        self,
        tree: Tree,
        node: cst.BaseExpression,
        wraps: Sequence[Wrap],
        ancestors: Sequence[cst.CSTNode],
        named_with_parentheses: bool,
        new: str | None = None,
    ) -> None:
        """With `new` that stands in the place of the expression, a name or a call."""
        assert new is None or isinstance(node, cst.Name | cst.Call), "replaced as a whole"
        self._tree, self._node, self._new = tree, node, new
        self._span = tree.span(node)
        if named_with_parentheses and node.lpar:
            self._span = tree.paren_span(node)
        self._prefix = self._suffix = ""
        for wrap in wraps:
            self._wrap(_requoted(_bare_template(wrap.template), _quotes_around(ancestors)))
        if wraps and self._is_misread(ancestors):
            self._prefix, self._suffix = f"({self._prefix}", f"{self._suffix})"

    @property
    def _text(self) -> str:
        inner = self._tree.text[slice(*self._span)] if self._new is None else self._new
        return self._prefix + inner + self._suffix

    def _wrap(self, template: str) -> None:
        head, tail = template.split("{}")
        text = self._text
        if _same(template.replace("{}", text), template.replace("{}", f"({text}\n)")):
            untouched = self._new is None and not self._prefix
            untouched &= self._span == self._tree.span(self._node)
            if untouched and self._node.lpar and head.endswith("(") and tail == ")":
                # The expression's own parentheses become those of the call.
                self._span = self._tree.paren_span(self._node)
                self._prefix = head[:-1]
                return
        else:
            head, tail = f"{head}(", f"){tail}"
        self._prefix, self._suffix = head + self._prefix, self._suffix + tail

    def _is_misread(self, ancestors: Sequence[cst.CSTNode]) -> bool:
        """Whether the new text needs parentheses where it stands."""
        kind = _parse(self._text)
        if isinstance(kind, _CLOSED):
            return False
        root = _root(self._node, ancestors)
        if root is self._node:
            return not isinstance(kind, _OPERATIONS)
        start, end = self._tree.outer_span(root)
        before = self._tree.text[start : self._span[0]]
        after = self._tree.text[self._span[1] : end]
        return not _same(before + self._text + after, f"{before}({self._text}\n){after}")

    def opening(self) -> Iterator[Change]:
        """What comes before the expression."""
        start = self._span[0]
        prefix = self._prefix
        if self._new is not None:
            yield Change(*self._span, self._text, self._tree.line_of(start))
        elif prefix:
            before = self._tree.text[start - 1 : start]
            glued = _is_word(before) and (_is_word(prefix[0]) or prefix[0] in "\"'")
            if glued or before == prefix[0] == "{":
                prefix = f" {prefix}"
            yield Change(start, start, prefix, self._tree.line_of(start))

    def closing(self) -> Iterator[Change]:
        """What comes after the expression."""
        end = self._span[1]
        suffix = self._suffix
        if suffix and self._new is None:
            if _is_word(suffix[-1]) and _is_word(self._tree.text[end : end + 1]):
                suffix = f"{suffix} "
            yield Change(end, end, suffix, self._tree.line_of(self._span[0]))


class Enclosing:
    """What begins before one expression, or ends after it, and goes around others as well."""

    def __init__(self, tree: Tree, node: cst.BaseExpression, action: Enclose) -> None:
        self._span, self._action = tree.outer_span(node), action
        self._line = tree.line_of(self._span[0])

    def opening(self) -> Iterator[Change]:
        if self._action.head:
            yield Change(self._span[0], self._span[0], self._action.head, self._line)

    def closing(self) -> Iterator[Change]:
        if self._action.tail:
            yield Change(self._span[1], self._span[1], self._action.tail, self._line)


class Calling:
    """All that changes inside one call: what it goes through, and its keyword arguments."""

    def __init__(
        self,
        tree: Tree,
        call: cst.Call,
        actions: Sequence[Through | Keyword],
        ancestors: Sequence[cst.CSTNode],
    ) -> None:
        self._tree, self._call = tree, call
        self._line = tree.line_of(tree.start(call))
        self._functions = [action.function for action in actions if isinstance(action, Through)]
        keywords = [action for action in actions if isinstance(action, Keyword)]
        quotes = _quotes_around(ancestors)
        given = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
        self.replaced = [
            (tree.outer_span(given[keyword.name]), _requoted(keyword.value, quotes))
            for keyword in keywords
            if keyword.name in given
        ]
        self._added = [
            f"{keyword.name}={_requoted(keyword.value, quotes)}"
            for keyword in keywords
            if keyword.name not in given
        ]
        self._break = ""
        self._open_end = tree.start(call.whitespace_before_args)
        if self._functions and call.args and "\n" not in tree.text[slice(*tree.span(call.func))]:
            line_break = _LINE_BREAK_AFTER_PARENTHESIS.match(tree.text, self._open_end)
            self._break = line_break.group(1) + line_break.group(2) if line_break else ""

    def opening(self) -> Iterator[Change]:
        """What comes before the call or its arguments."""
        start = self._tree.start(self._call)
        if self._functions:
            outer, *others = reversed(self._functions)
            before = f"{outer}({self._break}" + "".join(f"{function}, " for function in others)
            if _is_word(self._tree.text[start - 1 : start]):
                before = f" {before}"
            yield self._insertion(start, before)
        generator = self._bare_generator()
        if generator is not None:
            yield self._insertion(self._tree.start(generator), "(")

    def closing(self) -> Iterator[Change]:
        """What comes after the function or its arguments."""
        tree, call = self._tree, self._call
        generator = self._bare_generator()
        if generator is not None:
            yield self._insertion(tree.end(generator), ")")
        if self._functions:
            separator = "," if self._break else ", " if call.args or self._added else ""
            if tree.text[self._open_end : self._open_end + 1] in ("", " ", "\t", "\r", "\n"):
                separator = separator.rstrip()
            start = tree.start(call.whitespace_after_func)
            if not isinstance(call.whitespace_after_func, cst.SimpleWhitespace):
                start = self._open_end - 1  # there may be a comment
            yield Change(start, self._open_end, separator, self._line)
        for (start, end), value in self.replaced:
            yield Change(start, end, value, self._line)
        if self._added and call.args:
            end = tree.outer_span(call.args[-1].value)[1]
            yield self._insertion(end, "".join(f", {text}" for text in self._added))
        elif self._added:
            yield self._insertion(tree.end(call) - 1, ", ".join(self._added))

    def _insertion(self, offset: int, text: str) -> Change:
        return Change(offset, offset, text, self._line)

    def _bare_generator(self) -> cst.BaseExpression | None:
        """The generator that is the only argument so far, and so may do without parentheses."""
        first = self._call.args[0].value if self._call.args else None
        alone = isinstance(first, cst.GeneratorExp) and not first.lpar
        return first if alone and (self._functions or self._added) else None


class Unwrapping:
    """A call of which only its first argument stays."""

    def __init__(self, tree: Tree, call: cst.Call) -> None:
        assert call.args, "a call without arguments has nothing to leave"
        self._outer = (tree.start(call), tree.end(call))
        self._inner = tree.outer_span(call.args[0].value)
        self._line = tree.line_of(self._outer[0])

    def opening(self) -> Iterator[Change]:
        yield Change(self._outer[0], self._inner[0], "", self._line)

    def closing(self) -> Iterator[Change]:
        yield Change(self._inner[1], self._outer[1], "", self._line)


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        return None


def _same(one: str, other: str) -> bool:
    first, second = _parse(one), _parse(other)
    return first is not None and second is not None and ast.dump(first) == ast.dump(second)


def _bare_template(template: str) -> str:
    """A template without parentheses around the whole; they are added again where needed."""
    assert template.count("{}") == 1, f"a template has one place for the expression: {template}"
    bare = template.strip()
    while bare.startswith("(") and bare.endswith(")"):
        inner = bare[1:-1].strip()
        try:
            ast.parse(inner.replace("{}", "_"), mode="eval")
        except SyntaxError:
            break
        if not _same(inner.replace("{}", "_"), bare.replace("{}", "_")):
            break
        bare = inner
    return bare


def _root(node: cst.BaseExpression, ancestors: Sequence[cst.CSTNode]) -> cst.BaseExpression:
    """The whole expression that a node is part of, within its statement or f-string field."""
    root = node
    for ancestor in reversed(ancestors):
        if isinstance(ancestor, cst.BaseExpression):
            root = ancestor
        elif isinstance(
            ancestor,
            cst.FormattedStringExpression
            | cst.BaseSmallStatement
            | cst.BaseCompoundStatement
            | cst.BaseSuite,
        ):
            break
    return root


def _quotes_around(ancestors: Sequence[cst.CSTNode]) -> set[str]:
    """The quotes of the f-strings that a node stands in; Python < 3.12 forbids them inside."""
    return {node.end[0] for node in ancestors if isinstance(node, cst.FormattedString)}


def _requoted(text: str, forbidden: set[str]) -> str:
    """The text with the quotes of its strings exchanged where they are forbidden."""
    allowed = {'"', "'"} - forbidden
    if not allowed or not any(quote in text for quote in forbidden):
        return text
    quote = allowed.pop()
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token in reversed(tokens):
        body = token.string[1:-1]
        if token.type == tokenize.STRING and token.string[0] in forbidden:
            if quote in body or "\\" in body or token.string[0] in body:
                continue
            start, end = token.start[1], token.end[1]
            text = f"{text[:start]}{quote}{body}{quote}{text[end:]}"
    return text


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
