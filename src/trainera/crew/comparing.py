"""What the results of a network, of all rows and of some, tell of how it treats them."""

from collections.abc import Iterator

import torch

APART, MIXES, TURNED, UNDECIDED = "apart", "mixes", "turned", "undecided"
TOLERANCES = {torch.float64: 1e-6, torch.float32: 1e-3}
ROUGH = 0.05


def judged(
    results: list[torch.Tensor],
    turned: torch.Tensor | None,
    doubled: torch.Tensor | None,
    first: int,
    second: int,
    batch_first: bool,
) -> str:
    """What one tensor of the results tells: of all rows, of parts, and with some rows replaced.

    And of the rows in reverse order, and each of them twice, unless random numbers go with them.
    """
    whole, one, rest, *others = results
    if not one.dim() == rest.dim() == whole.dim() or not torch.isfinite(whole).any():
        return UNDECIDED
    shapes = list(zip(whole.shape, one.shape, rest.shape, strict=True))
    along = [place for place, sizes in enumerate(shapes) if len(set(sizes)) > 1]
    if not along:
        if others:
            return UNDECIDED
        kinds = figure_kinds(whole, one, rest, first, second)
        if doubled is not None and doubled.shape == whole.shape:
            kinds &= figure_kinds(doubled, whole, whole, 1, 1)
        if kinds and batch_first and whole.dim():
            return TURNED  # it has no rows at all
        return APART if kinds else MIXES
    if any(shapes[place][0] != shapes[place][1] + shapes[place][2] for place in along):
        return UNDECIDED
    if any(other.shape != whole.shape for other in others):
        return UNDECIDED
    if len(along) > 1:
        return MIXES  # each row with each other
    made = assembled(results, along[0], first, second)
    if not any(close(whole, each) for each in made):
        return MIXES
    if turned is not None and turned.shape == whole.shape:
        if whole.shape[along[0]] == first + second and not close(whole, turned.flip(along[0])):
            return MIXES
    rows = first + second
    if doubled is not None:
        if judged([doubled, whole, whole], None, None, rows, rows, False) == MIXES:
            return MIXES
    return TURNED if batch_first and along[0] else APART


def figure_kinds(
    whole: torch.Tensor, one: torch.Tensor, rest: torch.Tensor, first: int, second: int
) -> set[str]:
    """What a figure may be of those of the parts: their mean, their sum."""
    mean = (one * first + rest * second) / (first + second)
    return {name for name, made in (("mean", mean), ("sum", one + rest)) if close(whole, made)}


def assembled(
    results: list[torch.Tensor], place: int, first: int, second: int
) -> Iterator[torch.Tensor]:
    """The whole result made of what belongs to each part: one after the other, or by turns."""
    whole, one, rest, *others = results
    sizes = one.shape[place], rest.shape[place]
    pieces = [one, rest]
    if others:
        pieces = [
            others[0].narrow(place, 0, sizes[0]),
            others[1].narrow(place, sizes[0], sizes[1]),
        ]
    yield torch.cat(pieces, place)
    each = whole.shape[place] // (first + second)
    if each > 1 and sizes == (each * first, each * second):
        if others:
            by_turns = [by_row(other, place, first + second) for other in others]
            pieces = [
                by_turns[0].narrow(place + 1, 0, first),
                by_turns[1].narrow(place + 1, first, second),
            ]
        else:
            pieces = [by_row(one, place, first), by_row(rest, place, second)]
        yield torch.cat(pieces, place + 1).flatten(place, place + 1)


def by_row(tensor: torch.Tensor, place: int, rows: int) -> torch.Tensor:
    """The tensor with one more dimension, after the given one, for the rows that take turns."""
    shape = tensor.shape
    return tensor.reshape(*shape[:place], -1, rows, *shape[place + 1 :])


def close(wanted: torch.Tensor, made: torch.Tensor) -> bool:
    """Whether they are the same but for rounding."""
    allowed = TOLERANCES.get(wanted.dtype, ROUGH)
    finite = wanted[torch.isfinite(wanted)].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(wanted, made, rtol=allowed, atol=allowed * scale, equal_nan=True)
