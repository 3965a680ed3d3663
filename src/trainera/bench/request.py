"""What was asked for, in a TOML file or by flags, and the experiment that it stands for."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from trainera.bench.catalogue import SIZES, WORKLOADS, find_workload
from trainera.bench.design import Design, Run, Subject, plan
from trainera.bench.platforms import Offer, Platform, Pythons
from trainera.bench.runner import Settings
from trainera.bench.strategies import Strategy, known_as, parse, usual
from trainera.errors import Status, UserError
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
    python: Mapping[str, str] = field(default_factory=dict)
    """Programs that run scripts instead of this Python, by framework or backend."""
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
_NOT_TEXT = (*_WHOLE, *_REAL, *_LISTS, "phases", "factors", "python")


def _checked(path: Path, name: str, value: Any) -> Any:
    if name in _LISTS and isinstance(value, list):
        if name != "workers":
            return tuple(map(str, value))
        if all(type(one) is int for one in value):
            return tuple(value)
    if name == "factors" and isinstance(value, dict) and all(map(_are_levels, value.values())):
        return {option: tuple(map(str, levels)) for option, levels in value.items()}
    if name == "python" and isinstance(value, dict):
        return {key: str(path) for key, path in value.items()}
    whole = isinstance(value, int) and not isinstance(value, bool)
    good = (
        (name in _WHOLE and whole)
        or (name in _REAL and (whole or isinstance(value, float)))
        or (name == "phases" and isinstance(value, bool))
        or (name not in _NOT_TEXT and isinstance(value, str))
    )
    if not good:
        raise UserError(f"{path}: {name} = {value!r} is not of the kind that {name} has")
    return value


def _are_levels(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and not any(
        isinstance(one, list | dict) for one in value
    )  # fmt: skip


def work_out(
    request: Request,
    offers: Sequence[Offer],
    pythons: Pythons,
    written_for: Callable[[Path], Platform],
    *,
    meters: bool,
) -> Experiment:
    """The runs of a request.

    `offers` are the engines that there are, those to compare others with first; `written_for` tells
    of a script what it trains with; `meters` says whether energy can be measured.
    """
    if request.size not in SIZES:
        raise UserError(f"size '{request.size}': there is {', '.join(SIZES)}")
    for name, least in _LEAST.items():
        given = getattr(request, name)
        if given is not None and given < least:
            raise UserError(f"{name.removesuffix('_s')} = {given:g}: it is {least:g} or more")
    if not request.workers or any(one < 1 for one in request.workers):
        raise UserError("numbers of workers are 1 or more")
    known = dict.fromkeys(one.engine for one in offers)
    request = replace(request, engines=tuple(known_as(one, known) for one in request.engines))
    notes: list[str] = []
    found = _subjects(request, pythons, written_for, notes)
    strategies = _strategies(request, offers, [platform for _, platform in found])
    notes += _left_out(request, offers, strategies, found)
    notes += [
        f"{engine} is another training, which no accuracy or time makes the script's: {why}"
        for engine, why in dict.fromkeys((one.engine, one.another) for one in strategies)
        if why
    ]
    subjects = [_with_engines(subject, platform, offers) for subject, platform in found]
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
        runs=plan(subjects, strategies, design),
        settings=Settings(
            phases=request.phases,
            threads=request.threads,
            timeout_s=request.timeout_s,
            cool_down_s=cool_down_s,
            watts_per_core=request.watts_per_core,
        ),
        notes=tuple(notes),
    )


def _subjects(
    request: Request,
    pythons: Pythons,
    written_for: Callable[[Path], Platform],
    notes: list[str],
) -> list[tuple[Subject, Platform]]:
    """What is trained, each with what it is written for."""
    found = []
    for name in request.workloads or tuple(one.name for one in WORKLOADS):
        if name.endswith(".py") or Path(name).is_file():
            subject = _own_script(name, request)
            platform = written_for(Path(name))
            modules = platform.modules
        else:
            workload = find_workload(name)
            subject, platform = workload.subject(request.size), workload.platform
            modules = workload.modules
        absent = pythons.lacks(platform, modules)
        if absent:
            way_out = pythons.way_out(platform)
            reason = f"{name} needs {' and '.join(absent)}: install it, {way_out}"
            if request.workloads:
                raise UserError(reason, Status.FAILED)
            notes.append(f"left out: {reason}")
            continue
        python = pythons.of(platform)
        found.append((replace(subject, python=python, framework=platform.title), platform))
    if len({subject.name for subject, _ in found}) < len(found):
        raise UserError("two scripts of one name cannot be told apart in the results — rename one")
    return found


def _with_engines(subject: Subject, platform: Platform, offers: Sequence[Offer]) -> Subject:
    takers = [one for one in offers if one.missing is None and one.platform.takes(platform)]
    return replace(subject, engines=tuple(one.engine for one in takers) if subject.trains else ())


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
    request: Request, offers: Sequence[Offer], platforms: Sequence[Platform]
) -> list[Strategy]:
    """What was asked for; else every engine that some of the scripts can be trained with here."""
    known = dict.fromkeys(one.engine for one in offers)
    if request.strategies:
        found = list(
            dict.fromkeys(_for_what_it_is(parse(one, known), offers) for one in request.strategies)
        )
        able = {one.engine for one in offers if one.unequal}
        if wrong := next((one for one in found if one.shares and one.engine not in able), None):
            raise UserError(
                f"strategy '{wrong.name}': every device of {wrong.engine} gets the same part of a "
                f"batch — shares are for {' and '.join(sorted(able))}"
            )
        return found
    for engine in request.engines:
        parse(f"{engine}:1", known)
    chosen = [
        [
            one
            for one in offers
            if one.platform.takes(platform)
            and (
                one.engine in request.engines
                if request.engines
                else one.missing is None and not one.another
            )
        ]
        for platform in dict.fromkeys(platforms)
    ]
    tried = usual(chosen, request.workers, all_workers=bool(request.engines))
    return [_for_what_it_is(one, offers) for one in tried]


def _for_what_it_is(strategy: Strategy, offers: Sequence[Offer]) -> Strategy:
    """The strategy, with the reason why it is another training where it is one by nature."""
    reasons = (one.another for one in offers if one.engine == strategy.engine)
    another = next(filter(None, reasons), "")
    if another and strategy.options:
        raise UserError(
            f"strategy '{strategy.name}': {strategy.engine} is another training as it is, and has "
            f"no options — write {strategy.engine}:{strategy.workers}"
        )
    return replace(strategy, another=another)


def _left_out(
    request: Request,
    offers: Sequence[Offer],
    strategies: Sequence[Strategy],
    subjects: Sequence[tuple[Subject, Platform]],
) -> list[str]:
    """Which engines are not tried on which scripts, and why.

    Where an engine was asked for and would take one of the scripts, but can run none here, that is
    an error.
    """
    notes = []
    asked = (*request.engines, *(one.engine for one in strategies if request.strategies))
    for engine in dict.fromkeys(one.engine for one in strategies if one.engine is not None):
        own = [one for one in offers if one.engine == engine]
        reasons: dict[str, list[str]] = {}
        tried = False
        for subject, platform in subjects:
            fitting = [one for one in own if one.platform.takes(platform)]
            if not subject.trains:
                continue
            if not fitting:
                titles = " and ".join(dict.fromkeys(one.platform.title for one in own))
                reason = f"it is for {titles}"
            elif fitting[0].missing is not None:
                reason = fitting[0].missing
            else:
                tried = True
                continue
            reasons.setdefault(reason, []).append(f"{subject.name} ({platform.title})")
        missing = [one.missing for one in own if one.missing in reasons]
        if engine in asked and not tried and missing:
            raise UserError(str(missing[0]), Status.FAILED)
        notes += [f"{engine} is not tried on {', '.join(n)}: {why}" for why, n in reasons.items()]
    return notes
