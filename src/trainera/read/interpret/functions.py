"""Calls of the script's own functions."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from trainera.read.interpret.calls import any_argument
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.policy import NETWORK, STRICT, Policy
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import parts_of
from trainera.read.values import (
    PLAIN,
    UNKNOWN_YET,
    BatchIterable,
    Const,
    Count,
    Dictionary,
    Function,
    Items,
    Lost,
    Many,
    Mean,
    Network,
    Shard,
    Share,
    Sum,
    Value,
)
from trainera.read.values.contents import first_share, flat, holds_share
from trainera.read.values.join import element, join

MAX_DEPTH = 40
MAX_RECURSION = 2
"""Calls within calls of a function that are told apart by the numbers that they are given."""


class Functions(MachinePart):
    """Calls of the script's own functions."""

    def call(self, function: Function, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self.machine.calls.own_arguments(node, frame)
        policy = NETWORK if isinstance(function.bound, Network) else frame.policy
        shares = [value for value in (*positional, *keywords.values()) if holds_share(value)]
        figures = all(isinstance(value, Mean | Sum | Count | Lost) for value in shares)
        if function.bound is None and any(
            value.models for value in shares if isinstance(value, Share)
        ):
            figures = False  # losses with their gradients, on their way to backward()
        if shares and figures and policy.gathers and not self._trains(function):
            rows = self._rows_to_size(function, positional, keywords, frame)
            if rows is not None:
                return rows
            # Only numbers go in (a meter, a logger): it is given those of the whole batch.
            self.machine.calls.gathered_arguments(node, frame)
            positional = [PLAIN if holds_share(value) else value for value in positional]
            keywords = {k: PLAIN if holds_share(value) else value for k, value in keywords.items()}
        result = self.run(function, positional, keywords, frame, policy=policy)
        if self.path.last_call in self.program.endless:
            self.never_return(frame)
        return self.machine.libraries.function_called(function, node, result, frame)

    def never_return(self, frame: Frame) -> None:
        """The path ends here, as at a `raise`."""
        frame.env = None
        frame.ended = True

    def _trains(self, function: Function) -> bool:
        """Whether a function goes on to compute gradients, or to update parameters.

        So does one that calls such a function, around which it was put.
        """
        words = self.machine.libraries.training_methods
        wrapped = self.machine.names.seen_by(function, inner=True)
        nodes = [function.node, *(one.node for one in wrapped if isinstance(one, Function))]
        return any(
            isinstance(part, ast.Attribute) and part.attr in words
            for node in nodes
            for part in parts_of(node)
        )

    def _rows_to_size(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], frame: Frame
    ) -> Value | None:
        """What a function makes that is told how many samples there are; None if it makes no rows.

        A helper that makes noise for a batch makes as many rows as a slice has, for a slice; and
        so does one that goes on to a loss of them.
        """
        given = [value for value in (*positional, *keywords.values()) if holds_share(value)]
        if not all(isinstance(value, Count) for value in given):
            return None
        if not any(map(self._makes_tensors, (function, *self._helpers_of(function)))):
            return None
        with self.notes.on_trial() as trial:
            made = self.run(function, positional, keywords, frame)
            trial.holds = any(
                isinstance(part, Shard) or (isinstance(part, Mean | Sum) and bool(part.models))
                for part in flat(made)
            )
        return made if trial.holds else None

    def _makes_tensors(self, function: Function) -> bool:
        """Whether a function makes tensors to a size, and remembers nothing."""
        parts = list(parts_of(function.node))
        if any(
            isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for part in parts
        ):
            return False
        makers = [part.func for part in parts if isinstance(part, ast.Call)]
        names = {ast.unparse(maker).rpartition(".")[2] for maker in makers}
        return bool(names & self.machine.libraries.tensor_makers)

    def _helpers_of(self, function: Function) -> list[Function]:
        """The script's own functions that a function calls by their names."""
        module = self.program.modules.get(function.module, {})
        parts = (part for part in parts_of(function.node) if isinstance(part, ast.Call))
        names = [part.func.id for part in parts if isinstance(part.func, ast.Name)]
        return [value for name in names if isinstance(value := module.get(name), Function)]

    def run(
        self,
        function: Function,
        arguments: list[Value],
        keywords: dict[str, Value],
        frame: Frame,
        policy: Policy = STRICT,
    ) -> Value:
        """Runs a function of the script's for such arguments."""
        if self.path.nested[function.node] >= MAX_RECURSION:
            arguments = [any_number(value) for value in arguments]
            keywords = {name: any_number(value) for name, value in keywords.items()}
        loop = self.path.loop
        key = (
            function.node,
            function.bound,
            function.defaults,
            tuple(self.machine.names.seen_by(function, inner=True)),
            tuple(arguments),
            tuple(sorted(keywords.items(), key=lambda item: item[0])),
            loop,
            policy,
        )
        context = self.program.contexts.setdefault(key, len(self.program.contexts) + 1)
        self.notes.called(context)
        self.path.last_call = context
        if context in self.path.active or len(self.path.frames) > MAX_DEPTH:
            self.path.cut_short += 1
            return self.program.results.get(context, UNKNOWN_YET)
        state = (self.program.learned, self.path.cut_short, self.path.mode)
        asked = (context, self.program.learned, self.path.mode, self.path.fresh.now)
        if asked in self.notes.facts.calls:
            result, self.path.fresh.now = self.notes.facts.calls[asked]
            return result
        callee = Frame(
            self.program.files[function.module],
            context,
            {},
            policy=policy,
            scope=context,
            outer=function.scope or None,
        )
        assert callee.env is not None
        self._bind_parameters(function, arguments, keywords, callee)
        self.path.active.add(context)
        self.program.visited.add(function.node)
        self.path.nested[function.node] += 1
        self.path.frames.append(frame)
        self.path.fresh.begin_call()
        if isinstance(function.node, ast.Lambda):
            result = self.machine.eval(function.node.body, callee)
        else:
            self.machine.run(function.node.body, callee)
            result = callee.returns if callee.returns is not None else Const(None)
            if callee.env is not None:  # it may come to its end without a `return`
                result = join(result, Const(None))
        self.path.fresh.end_call(callee.env is not None)
        self.path.nested[function.node] -= 1
        self.path.frames.pop()
        self.path.active.discard(context)
        self.path.last_call = context
        if callee.ended and callee.env is None and callee.returns is None and not callee.yields:
            self.program.endless.add(context)
        if callee.yields is not None:
            result = self._generated(callee.yields)
        self.program.results[context] = result
        if policy.reuses_calls and not function.scope:
            if state == (self.program.learned, self.path.cut_short, self.path.mode):
                self.notes.call(asked, (result, self.path.fresh.now))
        return result

    def _generated(self, value: Value) -> Value:
        """What calling a generator function gives."""
        share = first_share(value) if holds_share(value) else self.machine.objects.of_a_batch(value)
        if share is not None:
            return BatchIterable(share.loaders, value)
        return Many(value) if value != PLAIN else PLAIN

    def defined(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Function:
        """A function, with the names around it and its defaults as they are here."""
        scope = self.machine.names.close_over(frame)
        defaults = tuple(self._defaults(node, frame))
        return Function(node, frame.file.name, scope=scope, defaults=defaults)

    def _defaults(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame
    ) -> Iterator[tuple[str, Value]]:
        """What parameters are if they are not given: they were made with the function."""
        spec = node.args
        names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
        by_place = reversed([*zip(reversed(names), reversed(spec.defaults), strict=False)])
        by_name = zip((one.arg for one in spec.kwonlyargs), spec.kw_defaults, strict=True)
        for name, default in (*by_place, *by_name):
            if default is not None:
                value = self.machine.eval(default, frame)
                # It outlives every batch.
                yield name, replace(value, born=None) if isinstance(value, Items) else value

    def _bind_parameters(
        self, function: Function, arguments: list[Value], keywords: dict[str, Value], callee: Frame
    ) -> None:
        spec = function.node.args
        names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
        values = [function.bound, *arguments] if function.bound is not None else list(arguments)
        assert callee.env is not None
        home = Frame(callee.file, 0, self.program.modules.get(function.module, {}), is_module=True)
        attributes = self.program.rebinding.is_certain_attribute
        certain = attributes("__defaults__") and attributes("__kwdefaults__")
        known = function.defaults
        defaults = dict(known if known is not None else self._defaults(function.node, home))
        for name in (*names, *(parameter.arg for parameter in spec.kwonlyargs)):
            default = defaults.get(name, PLAIN)
            callee.env[name] = default if certain else join(default, PLAIN)
        for name, value in zip(names, values, strict=False):
            callee.env[name] = value
        anything = any_argument(keywords)
        rest = {name: value for name, value in keywords.items() if name not in ("*", "**")}
        if anything is not None:
            by_name = [one.arg for one in spec.kwonlyargs] if "**" in keywords else []
            for name in (*names[len(values) :], *by_name):
                if name not in rest:
                    own = callee.env[name] if name in defaults else None
                    callee.env[name] = join(own, anything)
        for name in list(rest):
            if name in callee.env:
                callee.env[name] = rest.pop(name)
        if spec.vararg is not None:
            more = values[len(names) :]
            callee.env[spec.vararg.arg] = (
                Many(reduce(join, [*more, keywords["*"]]))
                if "*" in keywords
                else Items(tuple(more))
            )
        if spec.kwarg is not None:
            spread = keywords.get("**")
            if spread is None or (not holds_share(spread) and spread == PLAIN):
                callee.env[spec.kwarg.arg] = Dictionary(tuple(rest.items()))
            else:
                callee.env[spec.kwarg.arg] = (
                    Many(reduce(join, [*rest.values(), element(spread)])) if rest else spread
                )


def any_number(value: Value) -> Value:
    """A function that calls itself counts something down: its end is not seen here."""
    number = isinstance(value, Const) and type(value.value) in (int, float)
    return PLAIN if number else value
