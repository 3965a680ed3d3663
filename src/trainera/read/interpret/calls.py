"""Calls, by what is called, and their arguments."""

import ast
from dataclasses import replace
from functools import reduce

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.policy import NETWORK, STRICT
from trainera.read.interpret.site import Site
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import field_names, takes, text_of
from trainera.read.values import (
    PLAIN,
    Choice,
    Class,
    Dictionary,
    Function,
    Items,
    Lost,
    Network,
    Object,
    Shard,
    Value,
)
from trainera.read.values.contents import holds_share
from trainera.read.values.join import element, join
from trainera.read.values.records import as_record

HOLDERS = {
    *("bytes", "complex", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"),
    *("collections.OrderedDict", "collections.UserDict", "collections.UserList"),
    *("collections.deque", "collections.defaultdict", "collections.Counter"),
}
"""What a class may come from that keeps what it is made of."""


def any_argument(keywords: dict[str, Value]) -> Value | None:
    """What a parameter may get by `*values` or `**values`, where that is not known by its name."""
    given = [keywords["*"]] if "*" in keywords else []
    if "**" in keywords:
        spread = keywords["**"]
        if isinstance(spread, Shard) and spread.nested:  # a dictionary of a batch's parts
            given.append(replace(spread, nested=False))
        else:
            given.append(element(spread))
    return reduce(join, given) if given else None


class Calls(MachinePart):
    """Calls, by what is called, and their arguments."""

    def arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Value], dict[str, Value]]:
        """By position and by name; `**` stands for what there is under names that are not known."""
        positional, keywords, _ = self._arguments(node, frame)
        return positional, keywords

    def own_arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Value], dict[str, Value]]:
        """The same for code of the script's own, of which every parameter counts.

        From `*values` on it is not known which parameter gets what: each may get any of them (`*`).
        """
        positional, keywords, place = self._arguments(node, frame)
        if place is None:
            return positional, keywords
        return positional[:place], keywords | {"*": reduce(join, positional[place:])}

    def _arguments(
        self, node: ast.Call, frame: Frame
    ) -> tuple[list[Value], dict[str, Value], int | None]:
        """By position, by name, and from which place on their number is not known, if it is not."""
        given = self.program.partials.get(node)
        positional: list[Value] = list(given.positional) if given is not None else []
        place = None
        for argument in node.args:
            value = self.machine.eval(
                argument.value if isinstance(argument, ast.Starred) else argument, frame
            )
            if isinstance(argument, ast.Starred) and isinstance(value, Items):
                positional.extend(value.items)
            elif isinstance(argument, ast.Starred) and isinstance(value, Shard) and value.nested:
                room = self._parameters(node, frame) - len(positional)
                positional.extend([replace(value, nested=False)] * max(room, 1))
            elif isinstance(argument, ast.Starred):
                place = len(positional) if place is None else place
                positional.append(element(value))
            else:
                positional.append(value)
        keywords: dict[str, Value] = dict(given.keywords) if given is not None else {}
        for keyword in node.keywords:
            value = self.machine.eval(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Dictionary):
                keywords |= dict(value.items)
            else:
                keywords["**"] = value  # there may be anything
        return positional, keywords, place

    def _parameters(self, node: ast.Call, frame: Frame) -> int:
        """How many arguments a function or network of the script's own takes; else one."""
        callee = self.machine.eval(node.func, frame)
        if isinstance(callee, Network) and callee.cls is not None:
            callee = self.machine.objects.member(callee, callee.cls, "forward", frame)
        if not isinstance(callee, Function):
            return 1
        spec = callee.node.args
        bound = callee.bound is not None and not isinstance(callee.node, ast.Lambda)
        return len(spec.posonlyargs) + len(spec.args) - bound

    def gathered_arguments(self, node: ast.Call, frame: Frame) -> list[Value]:
        """Arguments of a call that is not understood: no share and no wrapper may go in."""
        values = []
        for expression in [*node.args, *(keyword.value for keyword in node.keywords)]:
            value = self.machine.gathering.evaluate(expression, frame)
            self.machine.libraries.given_away(expression, value, frame)
            if isinstance(value, Function) and frame.policy.arranges_side_effects:
                self.machine.functions.run(value, [], {}, frame)
            values.append(value)
        return values

    def call(self, node: ast.Call, frame: Frame) -> Value:
        function = node.func
        if isinstance(function, ast.Attribute):
            known = self.machine.libraries.call_by_name(node, function, frame)
            if known is not None:
                return known
            owner = self.machine.eval(function.value, frame)
            if isinstance(owner, Lost) and owner.acts:
                return self.machine.gathering.gather(function.value, owner, frame)
            made = self.machine.methods.call(node, function, owner, frame)
            if made is None:
                made = self.call_value(self.machine.eval(function, frame), node, frame)
            self.machine.heap.by_method(node, function, owner, frame)
            return made
        return self.call_value(self.machine.eval(function, frame), node, frame)

    def method_of(self, owner: Value, site: Site[ast.Call]) -> Value:
        """A method of one of several values."""
        function = site.node.func
        assert isinstance(function, ast.Attribute)
        made = self.machine.methods.call(site.node, function, owner, site.frame)
        if made is None:
            method = self.machine.attributes.of(owner, Site(self.machine, function, site.frame))
            made = self.call_of(method, site)
        self.machine.heap.by_method(site.node, function, owner, site.frame)
        return made

    def call_of(self, callee: Value, site: Site[ast.Call]) -> Value:
        """What calling one of several values gives."""
        return self.call_value(callee, site.node, site.frame)

    def call_value(self, callee: Value, node: ast.Call, frame: Frame) -> Value:
        made = callee.call(Site(self.machine, node, frame))
        if made is None:
            made = self.machine.libraries.call_value(callee, node, frame)
        if made is None:
            made = self.machine.unknown.call(text_of(node.func), node, frame)
        return made

    def one_of(self, callee: Choice, node: ast.Call, frame: Frame) -> Value:
        """A function or class that is chosen by a name: any that can be called like that.

        Beside networks a module has helpers; where a network can be meant, it is.
        """
        fitting = [one for one in callee.functions if self.can_take(one, node)]
        made: list[Value] = []

        def ask(one: Value, site: Site[ast.Call]) -> Value:
            made.append(self.call_of(one, site))
            return made[-1]

        joined = Site(self.machine, node, frame).each(fitting or callee.functions, ask)
        networks: list[Value] = [value for value in made if isinstance(value, Network)]
        others = self.machine.libraries.unaccounted(node, frame) if callee.unseen else ()
        if others:
            networks.append(Network(frozenset({node}), choices=others))
        return reduce(join, networks) if networks else joined

    def instantiate(self, cls: Class, node: ast.Call, frame: Frame) -> Value:
        bases = self.machine.objects.base_names(cls)
        positional, keywords = self.own_arguments(node, frame)
        own = isinstance(self.machine.objects.attribute(cls, "__init__"), Function)
        if self._made_elsewhere(cls, bases, own):
            positional, keywords = self._given_whole(cls, positional, keywords, node, frame)
        if not own and (frame.policy.assumes_rows or "typing.NamedTuple" in bases):
            record = as_record(field_names(cls.node), positional, keywords)
            if record is not None:
                return record
        self.program.sites.setdefault(cls.node, {})[node] = bool(self.path.open_loops)
        made = self.machine.libraries.instance(cls, bases, node, frame) or Object(cls)
        if not isinstance(made, Object | Network):
            return made
        constructor = self.machine.objects.attribute(cls, "__init__")
        if isinstance(constructor, Function):
            bound = replace(constructor, bound=made)
            self.machine.functions.run(
                bound,
                positional,
                keywords,
                frame,
                policy=NETWORK if isinstance(made, Network) else STRICT,
            )
            if self.path.last_call in self.program.endless:
                self.machine.functions.never_return(frame)
        elif constructor is not None:
            self.call_value(self.machine.objects.member(made, cls, "__init__", frame), node, frame)
        else:
            anything = any_argument(keywords)
            for statement in cls.node.body:  # a dataclass: its fields are its arguments
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    value = keywords.get(name)
                    if value is None:
                        value = positional.pop(0) if positional else anything
                    self.machine.objects.set_attribute(
                        cls, name, value if value is not None else PLAIN
                    )
        return made

    def _made_elsewhere(self, cls: Class, bases: list[str], constructed: bool) -> bool:
        """Whether other code than `__init__` gets the arguments with which an object is made."""
        builtin = any(base.removeprefix("builtins.") in HOLDERS for base in bases)
        return bool(self._makers(cls)) or (builtin and not constructed)

    def _makers(self, cls: Class) -> list[Function]:
        """The script's own `__new__`, and what its metaclass does when the class is called."""
        found = [self.machine.objects.attribute(cls, "__new__")]
        for one in self.machine.objects.lineage(cls):
            for word in one.node.keywords:
                if word.arg == "metaclass":
                    meta = self.machine.objects.base(word.value, one)
                    if isinstance(meta, Class):
                        found.append(self.machine.objects.attribute(meta, "__call__"))
        return [one for one in found if isinstance(one, Function)]

    def _given_whole(
        self,
        cls: Class,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame,
    ) -> tuple[list[Value], dict[str, Value]]:
        """The arguments, made whole: what an object is in the end is not followed."""
        for expression in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if holds_share(self.machine.eval(expression, frame)):
                self.machine.gathering.evaluate(expression, frame)
        positional = [PLAIN if holds_share(value) else value for value in positional]
        keywords = {k: PLAIN if holds_share(value) else value for k, value in keywords.items()}
        for maker in self._makers(cls):
            self.machine.functions.run(replace(maker, bound=cls), positional, keywords, frame)
        return positional, keywords

    def qualified(self, name: str, node: ast.Call, frame: Frame) -> Value:
        """A call of something of a library."""
        self.machine.heap.given_away(node, name, frame)
        made = self.machine.libraries.call(name, node, frame)
        if made is None:
            made = self.machine.unknown.call(name, node, frame)
        return self.machine.libraries.called(name, node, made, frame)

    def can_take(self, callee: Function | Class, node: ast.Call) -> bool:
        """Whether it can be called with so many arguments."""
        function = (
            self.machine.objects.attribute(callee, "__init__")
            if isinstance(callee, Class)
            else callee
        )
        if not isinstance(function, Function):
            return True
        bound = isinstance(callee, Class) or function.bound is not None
        return takes(function.node.args, node, int(bound))
