"""Strategies: an engine, a number of workers, and what becomes of the batch."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from trainera.bench.platforms import Offer
from trainera.errors import UserError
from trainera.launch.shares import complaint

Batch = Literal["global", "per-worker"]
Rate = Literal["keep", "linear", "sqrt"]
Random = Literal["exact", "own"]
RATES: tuple[Rate, ...] = ("keep", "linear", "sqrt")
ANOTHER = "(another training)"
"""What the name of a strategy ends in that learns something else than the script, by nature."""

_HOW = (
    "write sequential, ENGINE:WORKERS, ENGINE:WORKERS:own (random numbers of its own for each "
    "worker), ENGINE:WORKERS:shares=5:1, ENGINE:WORKERS:per-worker, …:per-worker:linear or "
    "…:per-worker:linear:warmup=EPOCHS"
)


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """One way to train a script."""

    engine: str | None = None
    """None: the script as it is, in one process."""
    workers: int = 1
    batch: Batch = "global"
    """Whether the batch is shared among the workers or each gets one of that size."""
    rate: Rate = "keep"
    """What becomes of the learning rate when the batch grows."""
    warmup_epochs: float = 0.0
    """How long it takes to get there."""
    random: Random = "exact"
    """Whether random numbers are those of the sequential run, or each worker's own."""
    another: str = ""
    """Why it is another training than the script's by nature, if it is."""
    shares: str = ""
    """What part of a batch each worker gets, as 5:1; empty: all alike."""

    @property
    def name(self) -> str:
        if self.engine is None:
            return "sequential"
        words = [self.engine, str(self.workers)]
        if self.batch == "per-worker":
            words.append("per-worker")
        if self.rate != "keep":
            words.append(f"lr {self.rate}")
        if self.warmup_epochs:
            words.append(f"warm-up {self.warmup_epochs:g}")
        if self.random != "exact":
            words.append("own random numbers")
        if self.another:
            words.append(ANOTHER)
        if self.shares:
            words.append(f"shares {self.shares}")
        return " ".join(words)

    @property
    def options(self) -> tuple[str, ...]:
        """What ``trainera run`` is told besides the engine and the number of workers."""
        words: tuple[str, ...] = ()
        if self.batch != "global":
            words += ("--batch", self.batch)
        if self.rate != "keep":
            words += ("--lr", self.rate)
        if self.warmup_epochs:
            words += ("--warmup", f"{self.warmup_epochs:g}")
        if self.random != "exact":
            words += ("--random", self.random)
        if self.another:
            words += ("--another-training",)
        if self.shares:
            words += ("--shares", self.shares)
        return words


SEQUENTIAL = Strategy()


def parse(text: str, engines: Collection[str]) -> Strategy:
    """The strategy that a user wrote as ``ddp:2:per-worker:linear``, of these `engines`."""
    engine, *rest = text.strip().split(":")
    if engine == "sequential" and not rest:
        return SEQUENTIAL
    engine = known_as(engine, engines)
    if engine not in engines:
        raise UserError(
            f"strategy '{text}': no engine is called '{engine}' — choose one of: "
            f"{', '.join(engines)}; {_HOW}"
        )
    workers = number_of_workers(rest[0]) if rest else 0
    if workers < 1:
        raise UserError(f"strategy '{text}': the number of workers is missing — {_HOW}")
    batch: Batch = "global"
    rate: Rate = "keep"
    warmup_epochs = 0.0
    random: Random = "exact"
    shares = ""
    for word in shares_together(rest[1:]):
        if word in ("global", "per-worker"):
            batch = "per-worker" if word == "per-worker" else "global"
        elif word in ("exact", "own"):
            random = "own" if word == "own" else "exact"
        elif word in RATES:
            rate = next(known for known in RATES if known == word)
        elif word.startswith("warmup=") and word[7:].replace(".", "", 1).isdigit():
            warmup_epochs = float(word[7:])
        elif word.startswith("shares="):
            shares = word[7:]
            if (why := complaint(shares, workers)) is not None:
                raise UserError(f"strategy '{text}': {why}")
        else:
            raise UserError(f"strategy '{text}': '{word}' is not understood — {_HOW}")
    if rate != "keep" and batch == "global":
        raise UserError(
            f"strategy '{text}': a learning rate is scaled when the batch grows, and this one is "
            "kept — add per-worker"
        )
    if warmup_epochs and rate == "keep":
        raise UserError(
            f"strategy '{text}': a warm-up leads to a learning rate that has grown — add linear"
        )
    return Strategy(
        engine=engine,
        workers=workers,
        batch=batch,
        rate=rate,
        warmup_epochs=warmup_epochs,
        random=random,
        shares=shares,
    )


def known_as(engine: str, engines: Collection[str]) -> str:
    """An engine by its own name, however the words of it were joined."""
    other = engine.replace("_", "-")
    return other if engine not in engines and other in engines else engine


def shares_together(words: Sequence[str]) -> list[str]:
    """The words of a strategy, those of its shares put together again: they have colons, too."""
    found: list[str] = []
    for word in words:
        if found and found[-1].startswith("shares=") and word[:1] in "0123456789.+-":
            found[-1] += f":{word}"
        else:
            found.append(word)
    return found


def number_of_workers(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise UserError(f"'{text}' is not a number of workers — give 1 or more")
    return number


def usual(
    platforms: Iterable[Sequence[Offer]], workers: Sequence[int], *, all_workers: bool
) -> list[Strategy]:
    """Sequential, then the engines of each platform on the numbers of workers.

    For the first engine of a platform and the most workers also with the batch that grows: the
    figure that others publish, and what it costs in accuracy. Engines after the first are tried on
    the most workers only, unless `all_workers`.
    """
    found = [SEQUENTIAL]
    most = max(workers)
    for offers in platforms:
        for number, offer in enumerate(offers):
            tried = workers if number == 0 or all_workers else [most]
            found += [Strategy(engine=offer.engine, workers=one) for one in tried]
            if number == 0 and most > 1 and offer.grows:
                found.append(Strategy(engine=offer.engine, workers=most, batch="per-worker"))
    return list(dict.fromkeys(found))
