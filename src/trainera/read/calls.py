"""Follows calls: of the script's own functions and classes, of networks, losses and tensors."""

import ast
from dataclasses import replace

from trainera.read import tables, tensors
from trainera.read.core import Frame
from trainera.read.facts import Backward
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    Count,
    External,
    Func,
    Instance,
    Iter,
    Kind,
    Listing,
    Loader,
    Loss,
    Lost,
    Mapping,
    Mean,
    Model,
    Optimizer,
    Own,
    Params,
    Shard,
    Share,
    Sum,
    Thing,
    Whole,
    element,
    holds_share,
    join,
)
from trainera.read.library import Library, loaders_of

MAX_DEPTH = 40


class Calls(Library):
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
            self.whole_arguments(node, frame)
            kind = PLAIN
        if isinstance(function.value, ast.Name) and kind != PLAIN:
            if owner != Bunch((), owner.born):
                kind = join(element(owner), kind)
            self.bind(function.value.id, Listing(kind, owner.born), frame)
        return PLAIN

    def _plain_method(self, node: ast.Call, name: str, owner: Kind, frame: Frame) -> Kind | None:
        key = (frame.context, node)
        self.facts.once.pop(key, None)
        if type(owner).__name__ not in ("Kind", "Thing", "Const", "Own", "Listing", "Bunch", "Whole"):
            return None
        if isinstance(owner, Thing):
            if name in ("parameters", "named_parameters", "state_dict"):
                self.promoted.add(owner.origin)
                return Params(frozenset({owner.origin}))
            if name in (*tables.MOVES, *tables.SAME_MODEL):
                return owner
        if name == "scale" and len(node.args) == 1:
            kind = self.eval(node.args[0], frame)
            if isinstance(kind, Share):
                return kind
        if name in tables.ONCE_METHODS and not frame.lenient:
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
                return self.assumed(node, kinds, frame)
            return PLAIN
        kinds = self.whole_arguments(node, frame)
        return next((kind for kind in (owner, *kinds) if isinstance(kind, Own | Whole)), PLAIN)

    def _share_method(
        self, node: ast.Call, function: ast.Attribute, owner: Share, frame: Frame
    ) -> Kind:
        self.facts.escapes.pop((frame.context, function.value), None)
        positional, keywords = self.arguments(node, frame)
        if isinstance(owner, Lost):
            return owner
        result = tensors.method(function.attr, owner, positional, keywords)
        if result is not None:
            return result
        if frame.lenient:
            if function.attr in ("view", "reshape") and isinstance(owner, Shard):
                self._hard_wired(node, owner, positional, frame)
            return self.assumed(node, [owner, *positional, *keywords.values()], frame)
        if isinstance(owner, Shard) and owner.ragged:
            return Lost(owner.loaders, "it is of rows picked by a condition", models=owner.models)
        made = self.make_whole(function.value, owner, frame)
        self.whole_arguments(node, frame)
        return made

    def _hard_wired(
        self, node: ast.Call, owner: Shard, sizes: list[Kind], frame: Frame
    ) -> None:
        """A batch size written into a view does not fit a slice."""
        plain = len(sizes) > 1 and type(sizes[0]) in (Kind, Const)
        if owner.dim == 0 and plain and not isinstance(node.args[0], ast.Starred):
            self.trouble(
                "network",
                node,
                frame,
                owner.loaders,
                what="the batch size is fixed in the network",
                why="a worker's slice has fewer rows",
                do="use x.size(0), or -1, for the first size",
            )

    def _model_method(
        self, node: ast.Call, function: ast.Attribute, owner: Model, frame: Frame
    ) -> Kind | None:
        name = function.attr
        if name in ("train", "eval"):
            off = name == "eval" or (
                bool(node.args)
                and isinstance(node.args[0], ast.Constant)
                and node.args[0].value is False
            )
            unknown = name == "train" and bool(node.args) and not off
            if not owner.part:
                self.mode = "either" if unknown else "eval" if off else "train"
            return owner
        if name == "requires_grad_":
            self.frees(node, owner, frame)
        if name in tables.MOVES or name in tables.SAME_MODEL:
            self.through_wrapper(function.value, owner, frame, name)
            self.whole_arguments(node, frame)
            return owner
        if name in ("parameters", "named_parameters", "buffers", "modules", "children"):
            self.through_wrapper(function.value, owner, frame, name)
            return Params(owner.origins)
        if name == "forward":
            self.through_wrapper(function.value, owner, frame, name)
            return self._forward(owner, node, frame)
        found = self.attribute(owner.cls, name) if owner.cls is not None else None
        if isinstance(found, Func | Model | Loss | Class | Instance):
            return None  # a method or layer of the script's own: looked up as an attribute
        self.through_wrapper(function.value, owner, frame, name)
        positional, keywords = self.arguments(node, frame)
        kinds = [*positional, *keywords.values()]
        if any(isinstance(kind, Share) for kind in kinds):
            return add_model(self.assumed(node, kinds, frame), owner, bypass=True)
        self.whole_arguments(node, frame)
        return PLAIN

    # Networks and gradients.
    def _forward(self, model: Model, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        kinds = [*positional, *keywords.values()]
        if model.wrapped is None and not model.part:
            self.facts.bare.pop((frame.context, node.func), None)
        if any(holds_share(kind) for kind in kinds) and not frame.lenient:
            for origin in model.origins:
                self.facts.first_use.setdefault(origin, len(self.facts.carriers))
        result: Kind | None = None
        if model.cls is not None:
            forward = self._member(replace(model, wrapped=False), model.cls, "forward", frame)
            if isinstance(forward, Func):
                result = self.call_function(forward, positional, keywords, frame, lenient=True)
        if not any(holds_share(kind) for kind in kinds):
            return result if result is not None and holds_share(result) else PLAIN
        if result is not None:
            result = batch_first(result)
        if result is None or not holds_share(result):
            shards = [kind for kind in kinds if isinstance(kind, Shard)]
            lost = tensors.mixed(*kinds)
            if lost:
                return add_model(lost, model, bypass=False)
            self._look_inside(model, shards, frame)
            if not shards:
                result = self.assumed(node, kinds, frame)
            else:
                result = Shard(shards[0].loaders, dim=shards[0].dim, nested=True)
        return result if frame.lenient else add_model(result, model, bypass=model.part)

    def _look_inside(self, model: Model, shards: list[Shard], frame: Frame) -> None:
        """Reads the script's own layers in a container of torch's, for what they do to a batch."""
        for part in model.inside:
            self._look_inside(part, shards, frame)
            forward = self._member(part, part.cls, "forward", frame) if part.cls else None
            if isinstance(forward, Func) and shards:
                self.call_function(forward, [shards[0]], {}, frame, lenient=True)

    def _backward(self, node: ast.Call, function: ast.Attribute, frame: Frame) -> Kind:
        value = function.value
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "scale"
            and len(value.args) == 1
        ):
            value = value.args[0]
        kind = self.eval(value, frame)
        loop = self.open_loops[-1] if self.open_loops else None
        text = "crew.current()"
        if isinstance(kind, Share):
            text = self.loader_text(kind.loaders, frame) or text
        if loop is not None:
            loop.training = True
            loop.backwards.add(node)
        self.facts.backwards[frame.context, node] = Backward(
            node=node,
            value=value,
            file=frame.file,
            kind=kind,
            text=text,
            loop=loop.node if loop else None,
        )
        return PLAIN

    # Functions and classes of the script's own.
    def _own_function(self, function: Func, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        lenient = frame.lenient or isinstance(function.bound, Model)
        shares = [kind for kind in (*positional, *keywords.values()) if holds_share(kind)]
        figures = all(isinstance(kind, Mean | Sum | Count | Lost) for kind in shares)
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


def add_model(kind: Kind, model: Model, *, bypass: bool) -> Kind:
    """The kind, computed with a network, through its wrapper or past it."""
    if isinstance(kind, Bunch):
        return Bunch(tuple(add_model(item, model, bypass=bypass) for item in kind.items))
    if isinstance(kind, Mapping):
        items = tuple((key, add_model(item, model, bypass=bypass)) for key, item in kind.items)
        return Mapping(items)
    if isinstance(kind, Listing):
        return Listing(add_model(kind.element, model, bypass=bypass))
    if isinstance(kind, Share):
        through = model.wrapped is True and not bypass
        return replace(kind, models=kind.models | {(o, through) for o in model.origins})
    return kind


def batch_first(kind: Kind) -> Kind:
    """A network's output whose layout was lost track of: the batch comes first, as it went in."""
    if isinstance(kind, Shard) and kind.dim is None:
        return replace(kind, dim=0)
    if isinstance(kind, Bunch):
        return Bunch(tuple(batch_first(item) for item in kind.items))
    if isinstance(kind, Mapping):
        return Mapping(tuple((key, batch_first(item)) for key, item in kind.items))
    return kind


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


__all__ = ["Calls", "Loader", "join", "loaders_of"]
