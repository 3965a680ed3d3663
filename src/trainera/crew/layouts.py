"""Where the rows of the batch lie in what is drawn at random, if there are any.

A network draws a mask of the shape [5, 64]: it may be for 5 samples, or for 64, or be the same for
all. The numbers alone do not tell, and no code says so. But where workers have different numbers of
samples, as they do in the first steps of every loop (see `dealing`), the shapes that they draw at
the same place of the program tell all: what follows the number of rows is rows. So at the first
draws at each place the workers exchange their shapes.

What is first drawn later, when all have equally many rows, is guessed, and looked at again when the
next pass begins with unequal ones. If the guess was wrong the run ends with a message.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch

from trainera.crew.joined_rows import JOINED_ROWS
from trainera.crew.state import CREW, REFUSED, Step
from trainera.crew.wire import gather_objects

CREW_NAMES = (
    *("end", "of", "_ask", "_check_guess", "rows", "draw", "alone", "call", "joining"),
    *("_looked_at", "_call_network", "__torch_function__", "_operation"),
)
"""Of the crew's functions: in a standalone script they are in the user's file."""

TORCH = str(Path(torch.__file__).parent)
BETWEEN: dict[Any, bool] = {}
"""Whether code is torch's or the crew's: between the script and what is drawn."""
MOST_FRAMES = 200

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """Which dimension of a draw are the rows of a batch."""

    dim: int
    times: int
    """How many entries there are for each row."""
    apart: bool
    """Whether those of one row lie apart: all rows come once, then all again, and so on."""
    depth: int
    """Of which open loop, from the inside."""


class Known(NamedTuple):
    """What is known of the draws at one place of the program."""

    layout: Layout | None
    """None if they are the same for all workers."""
    shape: Shape
    sure: bool

    def fits(self, shape: Shape, here: list[int]) -> bool:
        """Whether a draw may be another one of these."""
        if self.layout is None:
            return shape == self.shape
        dim, times, _, depth = self.layout
        return (
            len(shape) == len(self.shape)
            and depth < len(here)
            and shape[dim] == times * here[depth]
        )


class Seen(NamedTuple):
    """What one worker draws, and how many rows it has, the innermost loop's first."""

    name: str
    shape: Shape
    here: list[int]
    apart: dict[int, set[bool]]
    """How so many entries were made of rows, as far as that was seen."""


class Layouts:
    """All places at which something was drawn in the body of a loop over batches."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, ...], dict[int, Known]] = {}
        """By place, and by how often it was passed in the same step: a loop may do many things."""
        self.guesses = 0
        self._step = 0
        self._times: dict[tuple[int, ...], int] = {}

    def of(self, name: str, shape: Shape) -> Layout | None:
        """Where the rows are in a draw that is made now; None if it is the same for all."""
        if self._step != CREW.steps:
            self._step, self._times = CREW.steps, {}
        steps = list(reversed(CREW.open.values()))
        place = (len(shape), *place_in_script(name))
        number = self._times[place] = self._times.get(place, 0) + 1
        known = self._recall(place, number, shape, steps)
        if known is None:
            known = self._ask(name, shape, steps)
            before = self.places.setdefault(place, {}).get(number)
            self.guesses += before is None and not known.sure
            if before is not None and not before.sure and known.sure:
                self._check_guess(before, known, name, shape)
            self.places[place][number] = known
        return known.layout

    def _recall(
        self, place: tuple[int, ...], number: int, shape: Shape, steps: list[Step]
    ) -> Known | None:
        found = self.places.get(place)
        if not found:
            return None
        here = [step.here for step in steps]
        one = found.get(number)
        if one is None:  # as all others at this place, if they are alike
            if len({known.layout for known in found.values()}) > 1:
                return None
            one = next(iter(found.values()))
        if not one.fits(shape, here) or (not one.sure and any(step.unequal for step in steps)):
            return None
        return one

    def _ask(self, name: str, shape: Shape, steps: list[Step]) -> Known:
        seen = Seen(
            name,
            shape,
            [step.here for step in steps],
            {size: JOINED_ROWS.ways(size) for size in shape},
        )
        # As a plain tuple: in a standalone script no class can be sent.
        everyone = [Seen(*one) for one in gather_objects(tuple(seen))]
        found = told_by(everyone)
        if isinstance(found, str):
            end(name, [one.shape for one in everyone], found)
        if found is not None:
            return found
        return guessed(shape, steps)

    def _check_guess(self, before: Known, now: Known, name: str, shape: Shape) -> None:
        if before.layout != now.layout:
            end(
                name,
                [before.shape, shape],
                "it was taken for rows of the batch, and is none, or the other way round, because "
                "all workers had equally many when it was first drawn",
            )


def told_by(everyone: list[Seen]) -> Known | str | None:
    """What the shapes of all workers tell; None if nothing, and a reason if it cannot be."""
    first = everyone[0]
    shapes = [one.shape for one in everyone]
    if any(one.name != first.name or len(one.shape) != len(first.shape) for one in everyone) or any(
        len(one.here) != len(first.here) for one in everyone
    ):
        return "the workers do not draw the same at this place"
    if all(shape == first.shape for shape in shapes):
        open_to_doubt = any(
            any(size % here == 0 for size in first.shape)
            and all(one.here[depth] == here for one in everyone)
            for depth, here in enumerate(first.here)
        )
        return None if open_to_doubt else Known(None, first.shape, True)
    differing = [dim for dim, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    for depth in range(len(first.here)) if len(differing) == 1 else ():
        dim = differing[0]
        times = first.shape[dim] // first.here[depth]
        if times and all(one.shape[dim] == times * one.here[depth] for one in everyone):
            # A worker with few rows may take something else for them; not all at once.
            ways = {True, False}.intersection(
                *(one.apart[one.shape[dim]] for one in everyone if one.here[depth] > 1)
            )
            if times > 1 and len(ways) != 1:
                return f"for each row there are {times} entries, and in which order is not seen"
            return Known(Layout(dim, times, ways == {True}, depth), first.shape, True)
    return "its size depends on the batch, but not on how many rows a worker has"


def guessed(shape: Shape, steps: list[Step]) -> Known:
    """What a draw is probably for: rows, if a dimension has just as many."""
    for depth, step in enumerate(steps):
        if shape[0] % step.here == 0 and shape[0] != step.whole:
            return Known(Layout(0, shape[0] // step.here, False, depth), shape, False)
        if step.here in shape:
            return Known(Layout(shape.index(step.here), 1, False, depth), shape, False)
    return Known(None, shape, False)


def end(name: str, shapes: list[Shape], why: str) -> NoReturn:
    """Ends the run, on every worker, because random numbers could not be those of one process."""
    if CREW.rank == 0:
        sizes = " and ".join(str(list(shape)) for shape in dict.fromkeys(shapes))
        print(
            f"trainera: {place_of_draw()}: {name} of the shape {sizes}: which of these random "
            f"numbers belong to which samples cannot be told: {why}. Draw them before the loop, or "
            "by the number of samples (len(x)); or convert with --random own",
            file=sys.stderr,
            flush=True,
        )
    raise SystemExit(REFUSED)


def place_of_draw() -> str:
    """Where the script draws, or calls the network that does."""
    frame = sys._getframe(1)
    own = frame.f_code.co_filename
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        inside = name.startswith(TORCH) or frame.f_globals.get("__name__", "").startswith(
            "trainera."
        )
        if not inside and not (name == own and frame.f_code.co_name in CREW_NAMES):
            break
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def place_in_script(name: str) -> tuple[int, ...]:
    """Where in the program something is drawn: the instruction in every function of the script's.

    Not in those of torch and of the crew: what they call depends on who watches, which may differ
    from worker to worker.
    """
    place = [hash(name)]
    frame: Any = sys._getframe(1)
    while frame is not None and len(place) < MOST_FRAMES:
        code = frame.f_code
        if code not in BETWEEN:
            library = code.co_filename.startswith(TORCH) or code.co_name in CREW_NAMES
            crew = str(frame.f_globals.get("__name__")).startswith("trainera.crew")
            BETWEEN[code] = library or crew
        if not BETWEEN[code]:
            place += [id(code), frame.f_lasti]
        frame = frame.f_back
    return tuple(place)


LAYOUTS = Layouts()
