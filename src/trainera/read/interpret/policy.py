"""How code is followed: in the training loop strictly, inside of a network with some trust.

A network's own code is mostly library calls on rows of the batch, and what it computes is needed
slice by slice, so nothing is gathered there: rows are taken to stay apart unless the code shows
otherwise. Everywhere else a share must not go where it is not understood.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """What is asked of the code that a frame runs."""

    inside_network: bool
    """It is a network's own code: what it keeps of a batch, or prints, or decides by, differs."""
    assumes_rows: bool
    """What is not understood is taken to treat the rows of a batch one by one."""
    gathers: bool
    """Where a share will not do, the value of the whole batch can take its place."""
    follows_lifetimes: bool
    """What outlives a batch is told from what is of the batch at hand."""
    arranges_side_effects: bool
    """What reaches outside is done by one worker, or all agree on what it gives."""
    watches_networks: bool
    """Calls of networks and what is asked of their parameters are noted."""
    reuses_calls: bool
    """What a function gives depends on its arguments alone, so it is read once for each."""


STRICT = Policy(
    inside_network=False,
    assumes_rows=False,
    gathers=True,
    follows_lifetimes=True,
    arranges_side_effects=True,
    watches_networks=True,
    reuses_calls=False,
)
NETWORK = Policy(
    inside_network=True,
    assumes_rows=True,
    gathers=False,
    follows_lifetimes=False,
    arranges_side_effects=False,
    watches_networks=False,
    reuses_calls=True,
)
