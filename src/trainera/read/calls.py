"""Follows calls: of the script's own functions and classes, of networks, losses and tensors."""

import ast
from collections import Counter
from dataclasses import replace
from functools import reduce

from trainera.read import tables
from trainera.read.callees import (
    any_number,
    generated,
    goes_backward,
    makes_parameter,
    makes_tensors,
)
from trainera.read.core import Frame
from trainera.read.facts import Decisions
from trainera.read.gradients import add_model
from trainera.read.inside import flat, holds_share
from trainera.read.kinds import (
    PLAIN,
    UNKNOWN_YET,
    Bunch,
    Class,
    Const,
    Count,
    Either,
    External,
    Func,
    Instance,
    Iter,
    Kind,
    Loader,
    Loss,
    Lost,
    Mapping,
    Mean,
    Model,
    Partial,
    Shard,
    Share,
    Sum,
    Thing,
)
from trainera.read.lattice import join
from trainera.read.library import is_meter
from trainera.read.methods import Methods
from trainera.read.records import as_record, field_names
from trainera.read.source import SourceFile

MAX_DEPTH = 40
TENSORS = (Kind, Thing, Const)
"""What a tensor is that is no part of a batch."""
NETWORKS = ("torch.nn.", "torch.jit.ScriptModule", *tables.ZOOS)
MAX_RECURSION = 2
"""Calls within calls of a function that are told apart by the numbers that they are given."""


class Calls(Methods):
    """The part of the analyser that follows calls."""

    def __init__(self, files: dict[str, SourceFile], decisions: Decisions) -> None:
        super().__init__(files, decisions)
        self.nested: Counter[ast.AST] = Counter()
        """How often each function is being called at the moment."""
        self.cut_short = 0
        """How often a call was not followed, because it was within itself or too deep."""

    def call(self, node: ast.Call, frame: Frame) -> Kind:
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr == "backward":
                return self._backward(node, function, frame)
            owner = self.eval(function.value, frame)
            if isinstance(owner, Lost) and owner.acts:
                return self.make_whole(function.value, owner, frame)
            handled = self._method(node, function, owner, frame)
            if handled is not None:
                return handled
        return self.call_kind(self.eval(function, frame), node, frame)

    def call_kind(self, callee: Kind, node: ast.Call, frame: Frame) -> Kind:
        match callee:
            case External():
                made = self.external(callee.name, node, frame)
                free = type(made) in TENSORS and makes_parameter(callee.name, node)
                return self.set_free(node, frame) if free else made
            case Func():
                return self._own_function(callee, node, frame)
            case Either():
                return self._one_of(callee, node, frame)
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
            case Partial():
                self.partials[node] = callee
                return self.call_kind(callee.function, node, frame)
            case Lost():  # a function that holds something of an earlier batch
                return self.make_whole(node.func, callee, frame)
        return self.unknown(ast.unparse(node.func), node, frame)

    def _one_of(self, callee: Either, node: ast.Call, frame: Frame) -> Kind:
        """A function or class that is chosen by a name: any that can be called like that.

        Beside networks a module has helpers; where a network can be meant, it is.
        """
        fitting = [one for one in callee.functions if self.can_take(one, node)]
        made = [self.call_kind(one, node, frame) for one in fitting or callee.functions]
        networks: list[Kind] = [kind for kind in made if isinstance(kind, Model)]
        others = self.unaccounted(node, frame) if callee.unseen else ()
        if others:
            networks.append(Model(frozenset({node}), choices=others))
        return reduce(join, networks or made)

    def _own_function(self, function: Func, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        lenient = frame.lenient or isinstance(function.bound, Model)
        shares = [kind for kind in (*positional, *keywords.values()) if holds_share(kind)]
        figures = all(isinstance(kind, Mean | Sum | Count | Lost) for kind in shares)
        if function.bound is None and any(
            kind.models for kind in shares if isinstance(kind, Share)
        ):
            figures = False  # losses with their gradients, on their way to backward()
        if shares and figures and not lenient and not goes_backward(function.node):
            rows = self._rows_to_size(function, positional, keywords, frame)
            if rows is not None:
                return rows
            # Only numbers go in (a meter, a logger): it is given those of the whole batch.
            self.whole_arguments(node, frame)
            positional = [PLAIN if holds_share(kind) else kind for kind in positional]
            keywords = {k: PLAIN if holds_share(kind) else kind for k, kind in keywords.items()}
        result = self.call_function(function, positional, keywords, frame, lenient=lenient)
        if isinstance(function.bound, Model) and not frame.lenient:
            model, through = self._goes_through(node, result, frame)
            return add_model(result, model or function.bound, node, bypass=not through)
        return result

    def _rows_to_size(
        self, function: Func, positional: list[Kind], keywords: dict[str, Kind], frame: Frame
    ) -> Kind | None:
        """What a function makes that is told how many samples there are; None if it makes no rows.

        A helper that makes noise for a batch makes as many rows as a slice has, for a slice; and
        so does one that goes on to a loss of them.
        """
        given = [kind for kind in (*positional, *keywords.values()) if holds_share(kind)]
        if not all(isinstance(kind, Count) for kind in given):
            return None
        if not any(makes_tensors(one.node) for one in (function, *self._helpers_of(function))):
            return None
        with self.on_trial() as trial:
            made = self.call_function(function, positional, keywords, frame)
            trial.holds = any(
                isinstance(part, Shard) or (isinstance(part, Mean | Sum) and bool(part.models))
                for part in flat(made)
            )
        return made if trial.holds else None

    def _helpers_of(self, function: Func) -> list[Func]:
        """The script's own functions that a function calls by their names."""
        module = self.modules.get(function.module, {})
        parts = (part for part in ast.walk(function.node) if isinstance(part, ast.Call))
        names = [part.func.id for part in parts if isinstance(part.func, ast.Name)]
        return [kind for name in names if isinstance(kind := module.get(name), Func)]

    def _goes_through(
        self, node: ast.Call, result: Kind, frame: Frame
    ) -> tuple[Model | None, bool]:
        """A step that is a method of the network: it is called through the wrapper."""
        if not isinstance(node.func, ast.Attribute) or self.mode == "eval":
            return None, False
        model = self.eval(node.func.value, frame)
        if not isinstance(model, Model) or model.part or not holds_share(result):
            return None, False
        self.begins(model, node, frame)
        if model.wrapped is False:
            return model, False
        key = (frame.context, node.func.value)
        self.facts.bare.pop(key, None)
        self.facts.through[key] = self.spot(node.func.value, frame, node.func.attr)
        return replace(model, wrapped=True), True

    def call_function(
        self,
        function: Func,
        arguments: list[Kind],
        keywords: dict[str, Kind],
        frame: Frame,
        lenient: bool = False,
    ) -> Kind:
        """Runs a function of the script's for arguments of these kinds."""
        if self.nested[function.node] >= MAX_RECURSION:
            arguments = [any_number(kind) for kind in arguments]
            keywords = {name: any_number(kind) for name, kind in keywords.items()}
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
        if context in self.active or len(self.frames) > MAX_DEPTH:
            self.cut_short += 1
            return self.results.get(context, UNKNOWN_YET)
        state = (self.learned, self.cut_short, self.mode)
        asked = (context, self.learned, self.mode, self.fresh.now)
        if asked in self.facts.calls:
            result, self.fresh.now = self.facts.calls[asked]
            return result
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
        self.nested[function.node] += 1
        self.frames.append(frame)
        self.fresh.begin_call()
        if isinstance(function.node, ast.Lambda):
            result = self.eval(function.node.body, callee)
        else:
            self.run(function.node.body, callee)
            if callee.env is not None:
                self.scopes[callee.scope] = (callee.env, callee.outer)
            result = callee.returns if callee.returns is not None else Const(None)
        self.fresh.end_call(callee.env is not None)
        self.nested[function.node] -= 1
        self.frames.pop()
        self.active.discard(context)
        if callee.yields is not None:
            result = generated(callee.yields)
        self.results[context] = result
        if lenient and not function.scope:
            if state == (self.learned, self.cut_short, self.mode):
                self.facts.calls[asked] = result, self.fresh.now
        return result

    def as_batches(self, kind: Kind, frame: Frame) -> Kind:
        """An object of the script's own that hands on the batches of a loader."""
        if isinstance(kind, Instance):
            method = self._member(kind, kind.cls, "__iter__", frame)
            if isinstance(method, Func):
                given = self.call_function(method, [], {}, frame)
                return given if isinstance(given, Loader | Iter) else kind
        return kind

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
            kind = self.eval(default, home) if default is not None else PLAIN
            # It was made with the function, and outlives every batch.
            callee.env[name] = replace(kind, born=None) if isinstance(kind, Bunch) else kind
        for name, value in zip(names, values, strict=False):
            callee.env[name] = value
        rest = dict(keywords)
        batch = rest.get("**")
        if isinstance(batch, Shard) and batch.nested:  # a dictionary of a batch's parts
            for name in names[len(values) :]:
                callee.env[name] = replace(batch, nested=False)
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
        if frame.lenient and not isinstance(self.attribute(cls, "__init__"), Func):
            record = as_record(field_names(cls.node), positional, keywords)
            if record is not None:
                return record
        if any(base in tables.LOADERS for base in bases):
            return self.make_loader(node, frame)
        network = any(base.startswith(NETWORKS) for base in bases)
        made: Kind = Model(frozenset({node}), cls) if network else Instance(cls)
        self.sites.setdefault(cls.node, {})[node] = bool(self.open_loops)
        if any(map(is_meter, bases)) and "sync_on_compute" not in ast.unparse(cls.node):
            self.adds_up_itself(node, frame)
        optimizers = [base for base in bases if not base.startswith(tables.SCHEDULERS)]
        if any(base.startswith(tables.OPTIMIZERS) for base in optimizers):
            return self._optimizer("", node, frame)
        if network and any("BatchNorm" in base for base in bases):
            self.facts.batchnorm = True
        if any(base.startswith(tables.ZOOS) for base in bases):
            self.facts.hidden = True
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
