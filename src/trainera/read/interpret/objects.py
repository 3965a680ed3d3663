"""Objects of the script's own classes, and what their attributes hold."""

import ast
from dataclasses import replace
from functools import reduce

from trainera.read.interpret.heap import ANY
from trainera.read.interpret.names import is_known
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import methods_of, text_of
from trainera.read.values import (
    PLAIN,
    Choice,
    Class,
    Dictionary,
    Function,
    Items,
    Lost,
    Many,
    Network,
    Object,
    PartialCall,
    Property,
    Qualified,
    Share,
    SuperObject,
    Union,
    Value,
    left_over,
)
from trainera.read.values.contents import first_share, flat, holds_share
from trainera.read.values.join import join

BY_ANY_NAME = "…"
"""The attribute that stands for those whose names are made up when the script runs."""
OF_OBJECT = -1
"""In place of the way in which a function is called: the dictionary that an object's class has."""
APART = Items | Many | Dictionary | Function
"""What stands beside figures under a similar name: `loss_names` beside `loss_G`."""


class Objects(MachinePart):
    """Objects of the script's own classes, and what their attributes hold."""

    def member(self, owner: Value, cls: Class, name: str, frame: Frame) -> Value:
        value = self.attribute(cls, name)
        if isinstance(value, Function) and self._is_method(value, cls):
            decorators = decorators_of(value)
            if "property" in decorators or "cached_property" in decorators:
                return self.machine.functions.run(replace(value, bound=owner), [], {}, frame)
            return self._bound_to(owner, value, cls)
        if isinstance(value, Choice):
            bound = tuple(self._bound_to(owner, one, cls) for one in value.functions)
            return replace(value, functions=bound)
        if isinstance(value, Union):
            members = (
                self._bound_to(owner, one, cls) if isinstance(one, Function) else one
                for one in value.members
            )
            return replace(value, members=tuple(members))
        if isinstance(value, Property):
            return self._got(owner, value.get, frame)
        if isinstance(value, Object):
            made = self.machine.special.ask(value, "__get__", [owner, cls], frame)
            return made if made is not None else value
        return value or PLAIN

    def _is_method(self, value: Function, cls: Class) -> bool:
        """Whether a function is found in the class of an object, and not in itself."""
        if value.bound is not None or value.owner is None:
            return False
        return value.owner is cls.node or any(
            value.owner is one.node for one in self.lineage(cls)[1:]
        )

    def _bound_to(self, owner: Value, one: Function | Class, cls: Class) -> Function | Class:
        """A function of a class as it is found by an object."""
        if isinstance(one, Class) or not self._is_method(one, cls):
            return one
        if "classmethod" in decorators_of(one):
            return replace(one, bound=cls)
        return one if "staticmethod" in decorators_of(one) else replace(one, bound=owner)

    def _of_class(self, one: Value, cls: Class) -> Value:
        """A function as it is found by its class: only a method of the class is bound, to that."""
        if isinstance(one, Choice):
            functions = (self._of_class(each, cls) for each in one.functions)
            found = tuple(each for each in functions if isinstance(each, Function | Class))
            return replace(one, functions=found)
        if not isinstance(one, Function) or not self._is_method(one, cls):
            return one
        return replace(one, bound=cls) if "classmethod" in decorators_of(one) else one

    def _got(self, owner: Value, getter: Value, frame: Frame) -> Value:
        """What a property gives."""
        if isinstance(getter, Function):
            return self.machine.functions.run(replace(getter, bound=owner), [], {}, frame)
        return PLAIN

    def of_this_batch(self, text: str, name: str, cls: Class, value: Value, frame: Frame) -> Value:
        """What an object holds of a batch; worth nothing if it may be of an earlier one."""
        if not frame.policy.follows_lifetimes:
            return value
        share = first_share(value) if holds_share(value) else self.of_a_batch(value)
        if share is None:
            return value
        sites = self.program.sites.get(cls.node, {})
        if len(sites) > 1 and not all(sites.values()):
            return Lost(share.loaders, f"there are several {cls.node.name}, of different batches")
        if any((owner.node, name) in self.path.fresh.now for owner in self.lineage(cls)):
            return value
        return left_over(text, share.loaders, "batch", acts=not holds_share(value))

    def by_computed_name(self, node: ast.Call, cls: Class, frame: Frame) -> Value:
        """``getattr(self, "loss_" + name)``: any of the attributes whose names begin like that."""
        head = _head(node.args[1])
        owners = self.lineage(cls)
        names = {
            name for owner in owners for (of, name) in self.program.attributes if of is owner.node
        }
        found: Value | None = None
        for name in sorted(names):
            value = self.attribute(cls, name)
            if name.startswith(head) and value is not None and not isinstance(value, APART):
                value = self.of_this_batch(text_of(node), name, cls, value, frame)
                found = join(found, value)
        return found or PLAIN

    def attribute(self, cls: Class, name: str) -> Value | None:
        found = self._own_attribute(cls, name)
        if found is None and cls.node.bases:
            among = (self._own_attribute(base, name) for base in self.lineage(cls)[1:])
            found = next((value for value in among if value is not None), None)
        return found

    def of_class(self, cls: Class, name: str) -> Value | None:
        """An attribute of a class: no known constant if something else may be put there."""
        found = self.attribute(cls, name)
        certain = self.program.rebinding.is_certain_attribute(name)
        if found is not None and is_known(found) and not certain:
            return PLAIN
        return self._of_class(found, cls) if found is not None else None

    def _own_attribute(self, cls: Class, name: str) -> Value | None:
        found = self.program.attributes.get((cls.node, name))
        if found is not None and is_known(found) and {name, BY_ANY_NAME} & self.program.loose:
            found = PLAIN
        if found is None and (method := methods_of(cls.node).get(name)) is not None:
            return Function(method, cls.module, owner=cls.node)
        given = [self.program.attributes.get((cls.node, BY_ANY_NAME))]
        given += [
            put
            for (key, _), put in self.program.puts.get((OF_OBJECT, cls.node), {}).items()
            if key in (name, ANY)
        ]
        return reduce(join, [one for one in given if one is not None], found)

    def all_attributes(self, owner: Object) -> Value:
        """``vars(owner)``: what is put in there by a name is an attribute from then on."""
        share = self.carried(owner)
        if share is not None:
            return Lost(share.loaders, "it is one of many values")
        held = {
            name: value
            for cls in reversed(self.lineage(owner.cls))
            for (of, name), value in self.program.attributes.items()
            if of is cls.node
        }
        return Dictionary(tuple(held.items()), frozenset({(OF_OBJECT, owner.cls.node)}))

    def setter(self, owner: Value, name: str) -> Function | None:
        """What is called when a property of an object is set."""
        if isinstance(owner, Object):
            held = self.attribute(owner.cls, name)
            if isinstance(held, Property) and isinstance(held.set, Function):
                return replace(held.set, bound=owner)
        for cls in self.lineage(owner.cls) if isinstance(owner, Object) else ():
            for part in cls.node.body:
                if isinstance(part, ast.FunctionDef) and part.name == name:
                    if f"{name}.setter" in map(text_of, part.decorator_list):
                        return Function(part, cls.module, bound=owner, owner=cls.node)
        return None

    def set_in_class(self, cls: Class, name: str, value: Value) -> None:
        """An attribute of a class: a function is a method, beside the one that stands there."""
        key = (cls.node, name)
        method = self._method(cls, name)
        if key not in self.program.attributes and method is not None:
            self.program.attributes[key] = method
        self.set_attribute(cls, name, _as_method(value, cls))

    def _method(self, cls: Class, name: str) -> Function | None:
        """What is written down as a method in a class or the nearest of its bases."""
        for one in self.lineage(cls):
            if (method := methods_of(one.node).get(name)) is not None:
                return Function(method, one.module, owner=one.node)
        return None

    def wrap_method(self, cls: Class, name: str, value: Value) -> None:
        """A method is what its decorators make of it, in place of what stands there."""
        key = (cls.node, name)
        old, new = self.program.attributes.get(key), _as_method(value, cls)
        self.program.attributes[key] = new
        if old is None or _without_scope(old) != _without_scope(new):
            self.program.changed = True
            self.program.learned += 1

    def set_attribute(self, cls: Class, name: str, value: Value) -> None:
        old = self.program.attributes.get((cls.node, name))
        if isinstance(value, Network) and (cls.node, name) in self.program.wrapped_attributes:
            value = replace(value, wrapped=True)
            old = replace(old, wrapped=True) if isinstance(old, Network) else old
        self.path.fresh.set((cls.node, name))
        new = join(old, value)
        if new != self.program.attributes.get((cls.node, name)):
            self.program.attributes[cls.node, name] = new
            self.program.changed = True
            self.program.learned += 1

    def carried(self, holder: Value) -> Share | None:
        """Something of a batch inside of an object, or that a function names or was given."""
        inside: list[Value] = []
        if isinstance(holder, Object):
            owners = {owner.node for owner in self.lineage(holder.cls)}
            inside = [held for (node, _), held in self.program.attributes.items() if node in owners]
        elif isinstance(holder, Function):
            inside = [one for one in self.machine.names.seen_by(holder) if one is not None]
            inside += [value for _, value in holder.defaults or ()]
        elif isinstance(holder, Choice | Union):
            several = holder.functions if isinstance(holder, Choice) else holder.members
            held_by = (self.carried(one) for one in several)
            return next((share for share in held_by if share is not None), None)
        elif isinstance(holder, PartialCall):
            inside = [*holder.positional, *(value for _, value in holder.keywords)]
        return next((first_share(held) for held in inside if holds_share(held)), None)

    def arrives(self, value: Value) -> None:
        """An object is made for the batch that has come: what it holds is of this one."""
        for one in flat(value):
            if isinstance(one, Object) and self.of_a_batch(one) is not None:
                owners = {owner.node for owner in self.lineage(one.cls)}
                for attribute in list(self.program.attributes):
                    if attribute[0] in owners:
                        self.path.fresh.set(attribute)

    def of_a_batch(self, value: Value) -> Share | None:
        """The same if it was made for a batch, so that it is worth nothing when that is over."""
        if isinstance(value, Object) and not any(
            self.program.sites.get(value.cls.node, {}).values()
        ):
            return None
        return self.carried(value)

    def lineage(self, cls: Class) -> list[Class]:
        """A class and its bases of the script's own, nearest first."""
        found = [cls]
        for current in found:
            for base in current.node.bases:
                value = self.base(base, current)
                if isinstance(value, Class) and value not in found:
                    found.append(value)
        return found

    def base(self, base: ast.expr, cls: Class) -> Value:
        frame = Frame(
            self.program.files[cls.module],
            0,
            self.program.modules.get(cls.module, {}),
            is_module=True,
        )
        return self.machine.eval(base, frame)

    def base_names(self, cls: Class) -> list[str]:
        """The library classes that a class comes from."""
        names = []
        for current in self.lineage(cls):
            for base in current.node.bases:
                value = self.base(base, current)
                if isinstance(value, Qualified):
                    names.append(value.name)
        return names

    def of_base(self, owner: SuperObject, name: str, frame: Frame) -> Value:
        """``super().name``: what the nearest base has, of the object itself."""
        for base in owner.bases:
            if self.attribute(base, name) is not None:
                return self.member(owner.of, base, name, frame)
        return PLAIN


def decorators_of(function: Function) -> set[str]:
    """The decorators that a function is written with."""
    return {text_of(item) for item in getattr(function.node, "decorator_list", [])}


def _as_method(value: Value, cls: Class) -> Value:
    """A function that is put into a class gets the object that it is called on."""
    if isinstance(value, Function) and value.bound is None:
        return replace(value, owner=cls.node)
    if isinstance(value, Choice):
        methods = (_as_method(one, cls) for one in value.functions)
        kept = tuple(one for one in methods if isinstance(one, Function | Class))
        return replace(value, functions=kept)
    if isinstance(value, Union):
        return replace(value, members=tuple(_as_method(one, cls) for one in value.members))
    return value


def _without_scope(value: Value) -> Value:
    """A function by what it is: the frame it was defined in has another number in each reading."""
    if isinstance(value, Union):
        return replace(value, members=tuple(map(_without_scope, value.members)))
    return replace(value, scope=0) if isinstance(value, Function) else value


def _head(node: ast.expr) -> str:
    """What a text begins with that is put together when the script runs."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _head(node.left).partition("%")[0]
    if isinstance(node, ast.JoinedStr) and node.values:
        return _head(node.values[0])
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
