"""What an engine says at each seam. A rule finds the seam; this is all it knows of the engine."""

import importlib.util
import re
from collections.abc import Mapping
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
    wrap: Phrase
    """What goes around the network in its final form."""
    wrap_with_idle_layers: str
    """The same for a network that has layers which get no gradients."""
    wrap_with_frozen_layers: str
    """The same for a network of which layers are frozen or freed once it is wrapped."""
    bare: str
    """The network inside its wrapper; ``{}`` if what goes around it gives it back as it is."""
    optimizer: Phrase | None = None
    """What goes around each optimizer, if anything; ``{options}`` are further arguments."""
    optimizer_names: str = ""
    """An option: the names of the parameters, which ``{}`` stands for."""
    extras: Mapping[str, str] = field(default_factory=dict)
    """Arguments of the optimizer's wrapper for options that only this engine has, by option."""
    mean_weight: str
    """Attribute of a split loader: the weight of a mean-reduced loss before the engine averages."""
    sum_weight: str
    """The same for a sum-reduced loss."""
    launcher: str
    """How the converted script is started without trainera."""
    agent: str
    """The module of `launch` that runs its workers."""
    timeline: str = ""
    """The variable that names the file for a trace of the run; empty: it writes none."""
    hosts: str = ""
    """How the converted script is started on machines by name; empty: not by one command."""
    fallback: "Engine | None" = None
    """The same without a wrapper around the network, for scripts that a wrapper cannot serve."""
    proof: str = ""
    """Python that runs if the engine works here; for what can be installed and yet be broken."""

    @property
    def wraps(self) -> bool:
        """Whether the network gets a wrapper through which scripts have to reach for it."""
        return self.bare != "{}"

    @property
    def names(self) -> frozenset[str]:
        """The names that the imports of its phrases bind in the script."""
        phrases = [phrase for phrase in (self.join, self.wrap, self.optimizer) if phrase]
        lines = [line for phrase in phrases for line in phrase.imports]
        return frozenset(re.split(r"[ .]", line)[-1] for line in lines)

    def missing(self) -> str | None:
        """What stands in the way of running it here, with the way out; None if nothing does."""
        absent = [module for module in self.needs if importlib.util.find_spec(module) is None]
        if not absent:
            return None
        is_not = "which is not" if len(absent) == 1 else "which are not"
        return f"{self.title} needs {' and '.join(absent)}, {is_not} installed: {self.get}"
