"""Whether a network treats the rows that it is given one by one, found out by trying.

A copy of it, without gradients, is given all rows, and then the first part of them and the rest. If
it treats rows one by one, it makes of the parts what it made of all: the same rows, wherever the
batch stands in the result, or a figure that is their mean or sum. Where it draws random numbers it
is given as many rows as before instead, of which some are others: what it makes of those that
stayed must stay. What cannot be tried that way is undecided.
"""

import contextlib
import copy
import io
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.modules import module as hooks
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.rnn import PackedSequence

from trainera.crew.comparing import APART, MIXES, TURNED, UNDECIDED, judged
from trainera.crew.picking import leaves, masks_in, picked, row_places
from trainera.crew.state import CREW
from trainera.crew.streams import RandomNumbers

MOST_VIEWS = 4
METHOD = "_tried_method"
"""Attribute of a copy: what is called of it, if it is not the network itself."""
FAINT = 0.01
"""Parameters below that may be there to let a branch begin with nothing."""


def tried(module: Any, args: Any, kwargs: Any, rows: int, batch_first: bool = False) -> str:
    """Whether what a network, a copy, makes of a row depends on the other rows.

    Or whether the batch is not where it should be in the results, if it should be in front.
    """
    if rows < 2:
        return UNDECIDED
    for views in range(1, MOST_VIEWS + 1):
        places = row_places((args, kwargs), rows * views)
        if any(places.values()):
            break
    else:
        return UNDECIDED  # there are no rows of the batch in it
    # Several views of each sample come one view after the other, or one sample after the other.
    found = {verdict_on(module, args, kwargs, rows, views, places, batch_first)}
    if views > 1:
        found.add(verdict_on(module, args, kwargs, rows, -views, places, batch_first))
    return next(one for one in (APART, UNDECIDED, TURNED, MIXES) if one in found)


def verdict_on(
    module: Any,
    args: Any,
    kwargs: Any,
    rows: int,
    views: int,
    places: dict[int, tuple[int, ...]],
    batch_first: bool,
) -> str:
    numbers = RandomNumbers()
    # A mask of steps by steps has nothing to do with the rows, though it may be of their size.
    masks = masks_in((args, kwargs), rows)
    ways = [places, {key: () if key in masks else at for key, at in places.items()}]
    verdict = UNDECIDED
    # In full precision, where it can be: then rounding is not taken for an influence of rows, nor
    # a small influence for rounding.
    for exact, taken in [
        (exact, way) for exact in (True, False) for way in ways[: 1 + bool(masks)]
    ]:
        try:
            with apart_from_the_run():
                network = prepared(module, exact)
                trial = Trial(network, (args, kwargs), rows, views, taken, numbers, exact)
                found = trial.verdict(batch_first)
        except Exception:  # the network's own: it cannot be asked this way
            found = UNDECIDED
        finally:
            numbers.put_back()
        if found == APART or (found in (MIXES, TURNED) and not masks):
            return found
        verdict = found if verdict == UNDECIDED else verdict
    return verdict


@contextlib.contextmanager
def apart_from_the_run() -> Iterator[None]:
    """What a trial prints, draws or tells others is no part of the run."""
    before = CREW.apart, CREW.alone, CREW.trying
    kept = [(table, dict(table)) for table in global_hooks()]
    CREW.apart, CREW.alone, CREW.trying = "a trial of a network", True, True
    try:
        for table, _ in kept:
            table.clear()
        with (
            torch.no_grad(),
            torch.autocast("cpu", enabled=False),
            torch.autocast("cuda", enabled=False),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            yield
    finally:
        CREW.apart, CREW.alone, CREW.trying = before
        for table, entries in kept:
            table.update(entries)


def global_hooks() -> list[Any]:
    """The tables of hooks that torch calls for every module."""
    names = ("_global_forward_hooks", "_global_forward_pre_hooks")
    return [getattr(hooks, name) for name in names]


def double_of(module: Any) -> Any:
    """A copy to be tried, so that what the network counts or keeps for itself does not move.

    None if it holds something that cannot be copied.
    """
    known = {
        id(value): value.detach().clone()
        for part in module.modules()
        for value in vars(part).values()
        if isinstance(value, torch.Tensor) and not value.is_leaf  # which torch refuses to copy
    }
    try:
        same = copy.deepcopy(module, known)
    except Exception:
        return None
    method = getattr(vars(same).get("forward"), "stands_for", None)
    if method is not None:  # called through the network's wrapper
        del same.forward
        vars(same)[METHOD] = method
    return same


def prepared(module: Any, exact: bool) -> Any:
    """The copy without chance and batch statistics as far as they are torch's own layers'."""
    network = copy.deepcopy(module)
    for part in network.modules():
        for table in (part._forward_hooks, part._forward_pre_hooks):
            for key, hook in list(table.items()):  # the script's may keep what they are given
                if not str(getattr(hook, "__module__", "")).startswith("torch."):
                    del table[key]
        if isinstance(part, _BatchNorm):
            part.training = False
            if part.running_mean is None:
                device = next(network.parameters()).device
                part.running_mean = torch.zeros(part.num_features, device=device)
                part.running_var = torch.ones(part.num_features, device=device)
        elif type(part).__module__.startswith("torch."):
            part.training = False
    if exact:
        network.double()
        stir(network)
    return network


def stir(network: Any) -> None:
    """Lets branches take part that are made to begin with next to nothing."""
    generator = torch.Generator().manual_seed(1)
    for parameter in network.parameters():
        if parameter.numel() and float(parameter.abs().max()) < FAINT:
            inputs = parameter.numel() // parameter.shape[0] if parameter.dim() > 1 else 4
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise / inputs**0.5)


class Trial:
    """One way to take the rows of what a network was given apart."""

    def __init__(
        self,
        network: Any,
        given: Any,
        rows: int,
        views: int,
        places: dict[int, tuple[int, ...]],
        numbers: RandomNumbers,
        exact: bool,
    ) -> None:
        self.network = network
        self.given = given
        self.rows = rows
        self.views = views
        self.places = places
        self.numbers = numbers
        self.exact = exact
        half = rows // 2
        # At least two rows each: scripts squeeze tensors.
        self.first = [*range(half)] * (2 if half == 1 else 1)
        self.second = [*range(half, rows)] * (2 if rows - half == 1 else 1)

    def given_of(self, samples: list[int], exact: bool) -> Any:
        """What the network is given of these samples, with all views of each."""
        if self.views > 0:
            index = [self.rows * view + one for view in range(self.views) for one in samples]
        else:
            index = [one * -self.views + view for one in samples for view in range(-self.views)]
        return picked(self.given, self.places, index, exact)

    def run(self, samples: list[int]) -> list[Any]:
        """What the network makes of these, from where all random numbers stand."""
        self.numbers.put_back()
        args, kwargs = self.given_of(samples, self.exact)
        network = copy.deepcopy(self.network)
        call = getattr(network, vars(network).get(METHOD, "__call__"))
        return list(leaves(call(*args, **kwargs)))

    def verdict(self, batch_first: bool = False) -> str:
        first, second = self.first, self.second
        if self.alike(first, second):
            return UNDECIDED
        whole = self.run([*first, *second])
        after = RandomNumbers()
        draws = self.numbers.moved()
        parts = [self.run(first), self.run(second)]
        others: list[list[Any]] = []
        # Parts of two or three rows may by chance be in the order that the network puts them in.
        backwards = [None] * len(whole) if draws else self.run([*first, *second][::-1])
        if draws:
            for index in ([*first, *cycled(first, second)], [*cycled(second, first), *second]):
                others.append(self.run(index))
                if after.moved():  # how much it draws hangs on the rows
                    return UNDECIDED
        verdicts = set()
        # Rows that count others of their kind give themselves away where each is there twice.
        copies = [None] * len(whole) if draws else self.run([*first, *second] * 2)
        for doubled, turned, *results in zip(
            copies, backwards, whole, *parts, *others, strict=True
        ):
            if isinstance(results[0], PackedSequence):
                verdicts.add(UNDECIDED)
            elif results[0].is_floating_point() or results[0].is_complex():
                sizes = len(first), len(second)
                verdicts.add(judged(results, turned, doubled, *sizes, batch_first))
        order = (MIXES, TURNED, UNDECIDED, APART)
        return next((one for one in order if one in verdicts), UNDECIDED)

    def alike(self, first: list[int], second: list[int]) -> bool:
        """Whether the two parts hold the same: then nothing can be told of them."""
        one = leaves(self.given_of(first, False))
        other = leaves(self.given_of(cycled(second, first), False))
        return all(
            isinstance(a, torch.Tensor) and torch.equal(a, b)
            for a, b in zip(one, other, strict=True)
        )


def cycled(rows: list[int], places: list[int]) -> list[int]:
    """Rows again and again, one for each of the places."""
    return [rows[number % len(rows)] for number in range(len(places))]
