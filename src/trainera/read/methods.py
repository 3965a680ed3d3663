"""Follows calls of methods, by what they are called on."""

import ast
from dataclasses import replace

from trainera.read import tables, tensors, world
from trainera.read.core import Frame
from trainera.read.inside import first_share, has_parameters, holds_share, models_in, put_together
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
    Mapping,
    Model,
    Optimizer,
    Own,
    Params,
    Shape,
    Shard,
    Share,
    Solo,
    Thing,
    Whole,
)
from trainera.read.lattice import (
    aligned_like,
    by_any_name,
    element,
    is_aligned,
    join,
    keeps_rows,
    sized,
    whole_of,
)
from trainera.read.library import is_meter
from trainera.read.networks import Networks
from trainera.read.suspects import SCATTERS


class Methods(Networks):
    """The part of the analyser that follows methods."""

    def _method(
        self, node: ast.Call, function: ast.Attribute, owner: Kind, frame: Frame
    ) -> Kind | None:
        name = function.attr
        if name in tables.IN_PLACE_DRAWS and self.open_loops and not isinstance(owner, Share):
            if all(keyword.arg != "generator" for keyword in node.keywords):
                return self.drawn_in_place(name, node, frame)
        if name in ("append", "extend") and isinstance(function.value, ast.Subscript):
            self._sorted_into_groups(node, function.value, frame)
        if name in ("register_hook", "register_post_accumulate_grad_hook") and not frame.lenient:
            self._hooked(node, frame)
        match owner:
            case Share():
                return self._share_method(node, function, owner, frame)
            case Model():
                return self._model_method(node, function, owner, frame)
            case Iter() if name == "__next__":
                return element(owner)
            case Own() if "random" in owner.what:
                self.whole_arguments(node, frame)
                return owner
            case Solo():
                self.handed_over(node, self.whole_arguments(node, frame), frame)
                made = self.facts.once.get((frame.context, function.value))
                if made is not None and made.what == "os.popen" and name.startswith("read"):
                    self.agreed(node, Own("what one worker was told"), frame)
                    return PLAIN
                return owner
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
            case Optimizer() if name == "add_param_group":
                positional, keywords = self.arguments(node, frame)
                added = models_in(Bunch((*positional, *keywords.values())))
                self.facts.optimizers[owner.origin] = self.facts.optimizers[owner.origin] | added
                return PLAIN
            case Params() if name in ("append", "extend", "insert") and node.args:
                more = self.eval(node.args[-1], frame)
                self.assign(function.value, put_together(owner, more), frame)
                return PLAIN
            case Params():
                self.whole_arguments(node, frame)
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
                others = [self.eval(argument, frame) for argument in node.args[1:]]
                values = element(Bunch((*(kind for _, kind in owner.items), *others)))
                return by_any_name(values)
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

    def _hooked(self, node: ast.Call, frame: Frame) -> None:
        self.trouble(
            "network",
            node,
            frame,
            frozenset(),
            what="a hook is given gradients while they are computed",
            why="on each worker they are of its own slice: they are averaged after that",
            do="change the gradients between backward() and the optimizer's step",
        )

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
        outlives = not frame.lenient and (loop is None or owner.born is not loop)
        if outlives and (holds_share(kind) or self.of_a_batch(kind)):
            kind = self.whole_arguments(node, frame)[-1]
        if has_parameters(owner) and isinstance(function.value, ast.Name):
            self.bind(function.value.id, put_together(owner, kind), frame)
        elif isinstance(function.value, ast.Name) and kind != PLAIN:
            if owner != Bunch((), owner.born):
                kind = join(element(owner), kind)
            self.bind(function.value.id, Listing(kind, owner.born), frame)
        return PLAIN

    def _sorted_into_groups(self, node: ast.Call, place: ast.Subscript, frame: Frame) -> None:
        """Parameters are put into ``groups[kind]["params"]``, which an optimizer is to be given."""
        root: ast.expr = place
        while isinstance(root, ast.Subscript):
            root = root.value
        given = [self.eval(argument, frame) for argument in node.args]
        if not isinstance(root, ast.Name) or not any(isinstance(kind, Params) for kind in given):
            return
        held = models_in(self.lookup(root.id, frame)) | models_in(Bunch(tuple(given)))
        self.bind(root.id, Params(held), frame)

    def _changed_to_rows(self, node: ast.Call, name: str, frame: Frame) -> None:
        """A tensor that outlives the batch is filled with its rows, or made as long."""
        positional, keywords = self.arguments(node, frame)
        given = [kind for kind in (*positional, *keywords.values()) if holds_share(kind)]
        if any(isinstance(kind, Shard | Count | Shape) for kind in given):
            self.trouble(
                "weight",
                node,
                frame,
                first_share(given[0]).loaders,
                what="a tensor is made to hold the rows of a batch",
                why=f"after '{name}' it would hold those of the whole batch on every worker",
                do="make a new tensor for each batch",
            )

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
        if isinstance(owner, Whole) and owner.order and name in tables.MOVES:
            return owner
        if name == "requires_grad_" and type(owner) in (Kind, Thing, Const):
            return self.freed(node, frame)
        if name in ("children", "named_children", "modules"):
            self.unseen(owner)
        if isinstance(owner, Thing):
            drawn = self.drawn_by(owner, name, node, frame)
            if drawn is not None:
                return drawn
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
        if name == "extractall" and not frame.lenient:
            self.whole_arguments(node, frame)
            self.facts.in_turn[key] = self.spot(node, frame, name)
            self.together()
            return PLAIN
        opens = name == "open" and bool(node.args) and "r" not in ast.unparse(node.args[0])
        moves = isinstance(owner, Thing) and owner.name.startswith("pathlib.")
        opens = opens or (moves and name in ("rename", "replace"))
        if (name in world.ONCE_METHODS or opens) and not frame.lenient:
            self.whole_arguments(node, frame)
            self.facts.once[key] = self.spot(node, frame, name)
            self.together()
            return Solo()
        if name in world.FILE_METHODS and not node.args:
            return Own("the file system")
        if name.endswith("_") and not name.startswith("_") and not frame.lenient:
            self._changed_to_rows(node, name, frame)
        if frame.lenient:
            positional, keywords = self.arguments(node, frame)
            kinds = [*positional, *keywords.values()]
            if any(isinstance(kind, Share) for kind in kinds):
                meter = isinstance(owner, Thing) and is_meter(owner.name)
                self.unseen(owner)
                if meter or (name.endswith("_") and _is_of_self(node.func)):
                    self.remembers(node, kinds, frame)
                elif name.rstrip("_") in SCATTERS:
                    self.combines(node, first_share(Bunch(tuple(kinds))).loaders, frame)
                return self.assumed(node, kinds, frame)
            return PLAIN
        positional, keywords = self.arguments(node, frame)
        kinds = self.whole_arguments(node, frame)
        self.handed_over(node, kinds, frame)
        result = tensors.reduced(name, sized(whole_of(owner, *kinds)), positional, keywords)
        result = aligned_like(result, is_aligned(owner) and keeps_rows(name))
        if isinstance(result, Whole) and name in tables.ENDS_GRADIENT:
            return replace(result, rows=result.rows and name != "item", models=frozenset())
        return result


def _is_of_self(node: ast.expr) -> bool:
    """Whether a method is called on something that `self` holds."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "self"
