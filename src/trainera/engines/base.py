"""What every engine says. A rule finds a seam; this is all it knows of the engine."""

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

CREW = "from trainera import crew"


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A piece of source with the imports it needs. ``{}`` stands for what is there already."""

    text: str
    imports: tuple[str, ...] = (CREW,)


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One way to run a script in parallel."""

    name: str
    title: str
    framework: str
    needs: tuple[str, ...]
    """Modules that must be importable to run it."""
    get: str
    """How to get what it needs."""
    join: Phrase
    """The statement by which a worker joins."""
    extras: Mapping[str, str] = field(default_factory=dict)
    """What is said for options that only this engine has, by option."""
    launcher: str
    """How the converted script is started without trainera."""
    agent: str
    """The module of `launch` that runs its workers; empty: it is only converted for."""
    one_process: bool = False
    """Whether workers are devices of one process."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that its processes are given; ``{workers}`` is their number."""
    timeline: str = ""
    """The variable that names the file for a trace of the run; empty: it writes none."""
    hosts: str = ""
    """How the converted script is started on machines by name; empty: not by one command."""
    measured: bool = True
    """Whether `bench` tries it."""
    another: str = ""
    """Why it is another training than the script's, if it is: then `bench` alone takes it, by name,
    and it has no part in what the others are compared for."""
    unequal: bool = False
    """Whether its workers may be given unequal parts of a batch."""
    proof: str = ""
    """Python that runs if the engine works here; for what can be installed and yet be broken."""

    def processes(self, workers: int) -> int:
        """How many processes that many workers are."""
        return 1 if self.one_process else workers

    def variables(self, workers: int, given: Mapping[str, str]) -> dict[str, str]:
        """Its variables for that many workers. Flags that the user has set stay, ahead of ours."""
        ours = {name: text.format(workers=workers) for name, text in self.environment.items()}
        return {
            name: f"{given[name]} {text}" if name.endswith("_FLAGS") and name in given else text
            for name, text in ours.items()
        }

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """All that it may put into a script."""
        return (self.join,)

    @property
    def names(self) -> frozenset[str]:
        """The names that the imports of its phrases bind in the script."""
        lines = [line for phrase in self.phrases for line in phrase.imports]
        return frozenset(re.split(r"[ .]", line)[-1] for line in lines)

    @property
    def only_measured(self) -> str:
        """What is said to those who would convert for another training; else empty."""
        if not self.another:
            return ""
        return (
            f"--engine {self.name}: {self.title} is another training: {self.another} — "
            f"trainera bench --strategies {self.name}:2 measures it; --engine horovod and --engine "
            "multiworker learn what the script learns"
        )

    @property
    def not_started(self) -> str:
        """What is said to those who would run it, if it is only converted for; else empty."""
        if self.agent:
            return ""
        return (
            f"--engine {self.name}: trainera converts for {self.title} and starts nothing with it: "
            f"{self.get} — trainera convert SCRIPT --engine {self.name}; where it is installed: "
            f"{self.launcher.format(workers=2, script=f'SCRIPT_{self.name}.py')}"
        )

    def missing(self, lacks: Callable[[Sequence[str]], list[str]] | None = None) -> str | None:
        """What stands in the way of running it, with the way out; None if nothing does.

        `lacks` tells which modules cannot be imported, if another Python than this one is meant.
        """
        absent = (lacks or _lacks)(self.needs)
        if not absent:
            return None
        is_not = "which is not" if len(absent) == 1 else "which are not"
        return f"{self.title} needs {' and '.join(absent)}, {is_not} installed: {self.get}"


def _lacks(modules: Sequence[str]) -> list[str]:
    return [module for module in modules if importlib.util.find_spec(module) is None]
