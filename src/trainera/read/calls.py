"""Follows calls: of the script's own functions and classes, of networks, losses and tensors."""

import ast
from dataclasses import replace

from trainera.read import tables
from trainera.read.core import Frame
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    Count,
    External,
    Func,
    Hashed,
    Instance,
    Iter,
    Kind,
    Listing,
    Loss,
    Lost,
    Mapping,
    Mean,
    Model,
    Optimizer,
    Own,
    Params,
    Share,
    Sum,
    Thing,
    Whole,
)
from trainera.read.lattice import element, holds_share, join, whole_of
from trainera.read.networks import Networks, add_model
from trainera.read.suspects import SCATTERS
from trainera.read.wholes import first_share

MAX_DEPTH = 40


class Calls(Networks):
    """The part of the analyser that follows calls."""

    depth = 0

    def call(self, node: ast.Call, frame: Frame) -> Kind:
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr == "backward":
                return self._backward(node, function, frame)
            owner = self.eval(function.value, frame)
            handled = self._method(node, function, owner, frame)
            if handled is not None:
                return handled
        return self.call_kind(self.eval(function, frame), node, frame)

    def call_kind(self, callee: Kind, node: ast.Call, frame: Frame) -> Kind:
        match callee:
            case External():
                return self.external(callee.name, node, frame)
            case Func():
                return self._own_function(callee, node, frame)
            case Class():
                return self._instantiate(callee, node, frame)
            case Model():
                return self._forward(callee, node, frame)
            case Loss():
                positional, keywords = self.arguments(node, frame)
                return self.apply_loss(callee, [*positional, *keywords.values()], node, frame)
            case Instance():
                method = self._member(callee, callee.cls, "__call__", frame)
                if isinstance(method, Func):
                    return self._own_function(method, node, frame)
        return self.unknown(ast.unparse(node.func), node, frame)

    # Methods.
    def _method(
        self, node: ast.Call, function: ast.Attribute, owner: Kind, frame: Frame
    ) -> Kind | None:
        name = function.attr
        match owner:
            case Share():
                return self._share_method(node, function, owner, frame)
            case Model():
                return self._model_method(node, function, owner, frame)
            case Optimizer() if name == "step" and (node.args or node.keywords):
                self.trouble(
                    "optimizer",
                    node,
                    frame,
                    frozenset(),
                    what="the optimizer's step is given a closure",
                    why="it would evaluate the loss on one worker's share",
                    do="compute loss and gradients before step() and call it without arguments",
                )
                return PLAIN
            case Params():
                if name == "requires_grad_":
                    self.frees(node, owner, frame)
                return owner
            case Loss() if name in tables.MOVES:
                return owner
            case Mapping() if name in ("items", "values", "keys"):
                values = element(Bunch(tuple(kind for _, kind in owner.items)))
                if name == "items":
                    return Listing(Bunch((PLAIN, values)))
                return Listing(values) if name == "values" else PLAIN
            case Mapping() if name == "get" and node.args:
                key = self.eval(node.args[0], frame)
                if isinstance(key, Const) and isinstance(key.value, str):
                    return owner.get(key.value) or PLAIN
            case Listing() if name in ("items", "values") and not node.args:
                values = owner.element
                return Listing(Bunch((PLAIN, values))) if name == "items" else owner
            case Bunch() | Listing() if name in ("append", "extend", "insert", "add"):
                return self._appended(node, function, owner, frame)
            case External() | Instance() | Class() | Func():
                return None
            case Thing() | Kind():
                return self._plain_method(node, name, owner, frame)
        return None

    def _appended(
        self, node: ast.Call, function: ast.Attribute, owner: Bunch | Listing, frame: Frame
    ) -> Kind:
        """A list grows. One that lives for a batch may hold shares; others hold wholes."""
        loop = self.open_loops[-1].node if self.open_loops else None
        kinds = [self.eval(argument, frame) for argument in node.args]
        if not kinds:
            return PLAIN
        many = function.attr == "extend" and isinstance(kinds[-1], Bunch | Listing | Params)
        kind = element(kinds[-1]) if many else kinds[-1]
        if holds_share(kind) and not frame.lenient and (loop is None or owner.born is not loop):
            kind = self.whole_arguments(node, frame)[-1]
        if isinstance(function.value, ast.Name) and kind != PLAIN:
            if owner != Bunch((), owner.born):
                kind = join(element(owner), kind)
            self.bind(function.value.id, Listing(kind, owner.born), frame)
        return PLAIN

    def _plain_method(self, node: ast.Call, name: str, owner: Kind, frame: Frame) -> Kind | None:
        key = (frame.context, node)
        self.facts.once.pop(key, None)
        if type(owner) not in (Kind, Thing, Const, Own, Listing, Bunch, Whole, Hashed):
            return None
        if isinstance(owner, Hashed):
            made = self.set_method(node, name, frame)
            if made is not None:
                return made
        if not isinstance(owner, Hashed):
            self.arguments_in_order(name, node, frame)
        if isinstance(owner, Thing):
            if name in ("parameters", "named_parameters", "state_dict"):
                self.promoted.add(owner.origin)
                return Params(frozenset({owner.origin}))
            if name in (*tables.MOVES, *tables.SAME_MODEL):
                return owner
        if type(owner) is Kind and name in ("state_dict", "load_state_dict", "named_parameters"):
            assert isinstance(node.func, ast.Attribute)
            place = node.func.value  # perhaps a network that was lost sight of
            self.facts.bare[frame.context, place] = self.spot(place, frame, "either")
        if name in ("seed", "manual_seed") and not frame.lenient:
            if not node.args and not node.keywords:
                return self._by_chance(node, frame)
            self._agreed_arguments(node, frame)
            return owner
        if name == "scale" and len(node.args) == 1:
            kind = self.eval(node.args[0], frame)
            if isinstance(kind, Share):
                return kind
        opens = name == "open" and bool(node.args) and "r" not in ast.unparse(node.args[0])
        moves = isinstance(owner, Thing) and owner.name.startswith("pathlib.")
        opens = opens or (moves and name in ("rename", "replace"))
        if (name in tables.ONCE_METHODS or opens) and not frame.lenient:
            self.whole_arguments(node, frame)
            self.facts.once[key] = self.spot(node, frame, name)
            self.together()
            return PLAIN
        if name in tables.FILE_METHODS and not node.args:
            return Own("the file system")
        if frame.lenient:
            positional, keywords = self.arguments(node, frame)
            kinds = [*positional, *keywords.values()]
            if any(isinstance(kind, Share) for kind in kinds):
                if name.endswith("_") and _is_of_self(node.func):
                    self.remembers(node, kinds, frame)
                elif name.rstrip("_") in SCATTERS:
                    self.combines(node, first_share(Bunch(tuple(kinds))).loaders, frame)
                return self.assumed(node, kinds, frame)
            return PLAIN
        kinds = self.whole_arguments(node, frame)
        self.handed_over(node, kinds, frame)
        result = whole_of(owner, *kinds)
        if isinstance(result, Whole) and name in tables.ENDS_GRADIENT:
            return replace(result, rows=result.rows and name != "item", cut=None)
        return result

    # Networks and gradients.

    # Functions and classes of the script's own.
    def _own_function(self, function: Func, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        lenient = frame.lenient or isinstance(function.bound, Model)
        shares = [kind for kind in (*positional, *keywords.values()) if holds_share(kind)]
        figures = all(isinstance(kind, Mean | Sum | Count | Lost) for kind in shares)
        if function.bound is None and any(
            kind.models for kind in shares if isinstance(kind, Share)
        ):
            figures = False  # losses with their gradients, on their way to backward()
        if shares and figures and not lenient and not _goes_backward(function.node):
            # Only numbers go in (a meter, a logger): it is given those of the whole batch.
            self.whole_arguments(node, frame)
            positional = [PLAIN if holds_share(kind) else kind for kind in positional]
            keywords = {k: PLAIN if holds_share(kind) else kind for k, kind in keywords.items()}
        result = self.call_function(function, positional, keywords, frame, lenient=lenient)
        if isinstance(function.bound, Model) and not frame.lenient:
            return add_model(result, function.bound, bypass=True)
        return result

    def call_function(
        self,
        function: Func,
        arguments: list[Kind],
        keywords: dict[str, Kind],
        frame: Frame,
        lenient: bool = False,
    ) -> Kind:
        """Runs a function of the script's for arguments of these kinds."""
        loop = self.open_loops[-1].node if self.open_loops else None
        key = (
            function.node,
            function.bound,
            tuple(arguments),
            tuple(sorted(keywords.items(), key=lambda item: item[0])),
            loop,
            lenient,
        )
        context = self.contexts.setdefault(key, len(self.contexts) + 1)
        if context in self.active or self.depth > MAX_DEPTH:
            return self.results.get(context, PLAIN)
        callee = Frame(
            self.files[function.module],
            context,
            {},
            lenient=lenient,
            scope=self.new_scope(),
            outer=function.scope or None,
        )
        assert callee.env is not None
        self._bind_parameters(function, arguments, keywords, callee)
        self.scopes[callee.scope] = (callee.env, callee.outer)
        self.active.add(context)
        self.visited.add(function.node)
        self.depth += 1
        if isinstance(function.node, ast.Lambda):
            result = self.eval(function.node.body, callee)
        else:
            self.run(function.node.body, callee)
            if callee.env is not None:
                self.scopes[callee.scope] = (callee.env, callee.outer)
            result = callee.returns if callee.returns is not None else Const(None)
        self.depth -= 1
        self.active.discard(context)
        if callee.yields is not None:
            result = _generated(callee.yields, callee)
        self.results[context] = result
        return result

    def _bind_parameters(
        self, function: Func, arguments: list[Kind], keywords: dict[str, Kind], callee: Frame
    ) -> None:
        spec = function.node.args
        names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
        values = [function.bound, *arguments] if function.bound is not None else list(arguments)
        assert callee.env is not None
        defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
        defaults |= {
            parameter.arg: default
            for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if default is not None
        }
        home = Frame(callee.file, 0, self.modules.get(function.module, {}), is_module=True)
        for name in (*names, *(parameter.arg for parameter in spec.kwonlyargs)):
            default = defaults.get(name)
            callee.env[name] = self.eval(default, home) if default is not None else PLAIN
        for name, value in zip(names, values, strict=False):
            callee.env[name] = value
        rest = dict(keywords)
        for name in list(rest):
            if name in callee.env:
                callee.env[name] = rest.pop(name)
        if spec.vararg is not None:
            callee.env[spec.vararg.arg] = Bunch(tuple(values[len(names) :]))
        if spec.kwarg is not None:
            callee.env[spec.kwarg.arg] = Mapping(tuple(rest.items()))

    def _instantiate(self, cls: Class, node: ast.Call, frame: Frame) -> Kind:
        bases = self.base_names(cls)
        positional, keywords = self.arguments(node, frame)
        if any(base in tables.LOADERS for base in bases):
            return self.make_loader(node, frame)
        network = any(base.startswith("torch.nn.") for base in bases)
        made: Kind = Model(frozenset({node}), cls) if network else Instance(cls)
        if any(base.startswith(tables.OPTIMIZERS) for base in bases):
            return self._optimizer("", node, frame)
        if network and any("BatchNorm" in base for base in bases):
            self.facts.batchnorm = True
        constructor = self.attribute(cls, "__init__")
        if isinstance(constructor, Func):
            bound = replace(constructor, bound=made)
            self.call_function(bound, positional, keywords, frame, lenient=network)
        else:
            for statement in cls.node.body:  # a dataclass: its fields are its arguments
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    kind = keywords.get(name)
                    if kind is None and positional:
                        kind = positional.pop(0)
                    self.set_attribute(cls, name, kind if kind is not None else PLAIN)
        return made


def _is_of_self(node: ast.expr) -> bool:
    """Whether a method is called on something that `self` holds."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "self"


def _goes_backward(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("backward", "step")
        for part in ast.walk(node)
    )


def _generated(kind: Kind, frame: Frame) -> Kind:
    """What calling a generator function gives."""
    if isinstance(kind, Share):
        return Iter(kind.loaders, kind)
    if isinstance(kind, Bunch) and holds_share(kind):
        share = next(item for item in kind.items if isinstance(item, Share))
        return Iter(share.loaders, kind)
    return PLAIN
