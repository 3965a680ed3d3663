"""What was asked for, in a TOML file or by flags, and the experiment that it stands for."""

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from trainera.bench.catalogue import SIZES, WORKLOADS, find_workload
from trainera.bench.design import Design, Run, Subject, plan
from trainera.bench.runner import Settings
from trainera.bench.strategies import Strategy, parse, usual
from trainera.errors import UserError
from trainera.read.source import file


@dataclass(frozen=True, kw_only=True)
class Request:
    """Every parameter of an experiment, under the names that the TOML file has for them."""

    workloads: tuple[str, ...] = ()
    """Workloads by name, scripts by path; none: all workloads."""
    size: str = "tiny"
    engines: tuple[str, ...] = ()
    """None: every engine that is installed."""
    workers: tuple[int, ...] = (1, 2)
    strategies: tuple[str, ...] = ()
    """Instead of engines and workers."""
    repetitions: int | None = None
    energy_runs: int | None = None
    warm_up: int | None = None
    cool_down_s: float | None = None
    seed: int = 0
    threads: int | None = None
    timeout_s: float | None = None
    phases: bool = True
    watts_per_core: float | None = None
    metric: str = r"accuracy[:= ]+([0-9.]+)"
    metric_name: str = ""
    seed_argument: str = ""
    """The option by which a script of the user's is told its seed, for example ``--seed``."""
    arguments: tuple[str, ...] = ()
    """Arguments of a script of the user's."""
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fraction: int = 1


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What a size stands for, where nothing else is said."""

    repetitions: int
    energy_runs: int
    warm_up: int
    cool_down_s: float


DEFAULTS = {
    "tiny": Defaults(repetitions=1, energy_runs=0, warm_up=0, cool_down_s=0.0),
    "small": Defaults(repetitions=5, energy_runs=1, warm_up=1, cool_down_s=1.0),
    "full": Defaults(repetitions=10, energy_runs=3, warm_up=1, cool_down_s=30.0),
}
OWN_SCRIPT = Defaults(repetitions=5, energy_runs=1, warm_up=1, cool_down_s=0.0)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A request, worked out."""

    request: Request
    runs: tuple[Run, ...]
    settings: Settings
    notes: tuple[str, ...]
    """What was left out, and why."""

    @property
    def fingerprint(self) -> str:
        """The same for the same runs of the same scripts: then it is resumed, not begun anew."""
        scripts = sorted({run.subject.script for run in self.runs})
        data = {
            "runs": [run.as_data() for run in self.runs],
            "settings": asdict(self.settings),
            "scripts": {one: hashlib.sha256(Path(one).read_bytes()).hexdigest() for one in scripts},
        }
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def read_request(path: Path) -> dict[str, Any]:
    """The parameters of a TOML file, checked against those that there are."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not TOML: {error}") from None
    known = {one.name: one for one in fields(Request)}
    for name, value in found.items():
        if name not in known:
            raise UserError(f"{path}: '{name}' is not a parameter — there is {', '.join(known)}")
        found[name] = _checked(path, name, value)
    return found


_WHOLE = ("repetitions", "energy_runs", "warm_up", "seed", "threads", "fraction")
_REAL = ("cool_down_s", "timeout_s", "watts_per_core")
_LEAST = {"cool_down_s": 0, "timeout_s": 0.01, "watts_per_core": 0, "threads": 1,
          "energy_runs": 0, "warm_up": 0}  # fmt: skip
_LISTS = ("workloads", "engines", "workers", "strategies", "arguments")


def _checked(path: Path, name: str, value: Any) -> Any:
    if name in _LISTS and isinstance(value, list):
        if name != "workers":
            return tuple(map(str, value))
        if all(type(one) is int for one in value):
            return tuple(value)
    if name == "factors" and isinstance(value, dict) and all(map(_are_levels, value.values())):
        return {option: tuple(map(str, levels)) for option, levels in value.items()}
    whole = isinstance(value, int) and not isinstance(value, bool)
    good = (
        (name in _WHOLE and whole)
        or (name in _REAL and (whole or isinstance(value, float)))
        or (name == "phases" and isinstance(value, bool))
        or (name not in (*_WHOLE, *_REAL, *_LISTS, "phases", "factors") and isinstance(value, str))
    )
    if not good:
        raise UserError(f"{path}: {name} = {value!r} is not of the kind that {name} has")
    return value


def _are_levels(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and not any(
        isinstance(one, list | dict) for one in value
    )  # fmt: skip


def work_out(
    request: Request, installed: Mapping[str, str], known: Mapping[str, str], *, meters: bool
) -> Experiment:
    """The runs of a request.

    `known` are the engines that there are, `installed` those that can run here, each with its
    framework; `meters` says whether energy can be measured.
    """
    if request.size not in SIZES:
        raise UserError(f"size '{request.size}': there is {', '.join(SIZES)}")
    for name, least in _LEAST.items():
        given = getattr(request, name)
        if given is not None and given < least:
            raise UserError(f"{name.removesuffix('_s')} = {given:g}: it is {least:g} or more")
    if not request.workers or any(one < 1 for one in request.workers):
        raise UserError("numbers of workers are 1 or more")
    notes: list[str] = []
    subjects = _subjects(request, notes)
    own = any(not subject.own_folder for subject in subjects)
    usually = OWN_SCRIPT if own else DEFAULTS[request.size]
    energy_runs = usually.energy_runs if request.energy_runs is None else request.energy_runs
    if energy_runs and not meters:
        notes.append("no energy runs: there is no meter on this machine")
        energy_runs = 0
    design = Design(
        repetitions=usually.repetitions if request.repetitions is None else request.repetitions,
        energy_runs=energy_runs,
        warm_up=usually.warm_up if request.warm_up is None else request.warm_up,
        seed=request.seed,
        factors=request.factors,
        fraction=request.fraction,
    )
    cool_down_s = usually.cool_down_s if request.cool_down_s is None else request.cool_down_s
    return Experiment(
        request=request,
        runs=plan(subjects, _strategies(request, installed, known), design),
        settings=Settings(
            phases=request.phases,
            threads=request.threads,
            timeout_s=request.timeout_s,
            cool_down_s=cool_down_s,
            watts_per_core=request.watts_per_core,
        ),
        notes=tuple(notes),
    )


def _subjects(request: Request, notes: list[str]) -> list[Subject]:
    if not request.workloads:
        missing = [reason for one in WORKLOADS if (reason := one.missing()) is not None]
        notes += missing
        return [one.subject(request.size) for one in WORKLOADS if one.missing() is None]
    found = []
    for name in request.workloads:
        if name.endswith(".py") or Path(name).is_file():
            found.append(_own_script(name, request))
            continue
        workload = find_workload(name)
        if (reason := workload.missing()) is not None:
            raise UserError(reason)
        found.append(workload.subject(request.size))
    if len({subject.name for subject in found}) < len(found):
        raise UserError("two scripts of one name cannot be told apart in the results — rename one")
    return found


def _own_script(name: str, request: Request) -> Subject:
    file.load(Path(name))  # it says so if there is no such file, or one that is no Python
    try:
        groups = re.compile(request.metric).groups
    except re.error as error:
        raise UserError(
            f"--metric '{request.metric}': not a regular expression ({error})"
        ) from None
    if request.metric and groups != 1:
        raise UserError(
            f"--metric '{request.metric}': put the figure, and only it, into parentheses, "
            "for example 'accuracy ([0-9.]+)'"
        )
    return Subject(
        name=Path(name).stem,
        script=name,
        arguments=request.arguments,
        metric=request.metric,
        metric_name=request.metric_name or _name_in(request.metric),
        seed=request.seed_argument,
        own_folder=False,
    )


def _name_in(metric: str) -> str:
    """What the figure is called: the last word before it."""
    words = re.findall(r"[A-Za-z][A-Za-z_-]+", metric.partition("(")[0])
    return words[-1].lower() if words else "metric"


def _strategies(
    request: Request, installed: Mapping[str, str], known: Mapping[str, str]
) -> Sequence[Strategy]:
    if request.strategies:
        found = [parse(one, known) for one in request.strategies]
    else:
        for engine in request.engines:
            parse(f"{engine}:1", known)
        chosen = {engine: known[engine] for engine in request.engines}
        found = usual(chosen or installed, request.workers, all_workers=bool(chosen))
    return list(dict.fromkeys(found))
