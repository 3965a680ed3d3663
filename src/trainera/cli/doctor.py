"""``trainera doctor``: what this machine has, what is missing, how to get it."""

from collections.abc import Iterator
from typing import Any

import typer

from trainera.cli import probe, render
from trainera.cli.options import JsonOption
from trainera.cli.trouble import told_as_json
from trainera.errors import Status

GOOD, BAD, PLAIN = "green", "yellow", ""
Line = tuple[str, str, str]
"""Heading, text, style."""


def doctor(as_json: JsonOption = False) -> None:
    """Show cores, devices, engines and meters: what is here and how to get what is missing.

    The exit status is 0 if at least one engine can run here, else 1.
    """
    with told_as_json(as_json):
        from trainera import engines

        found = probe.machine()
        found["engines"] = [
            {
                "name": engine.name,
                "title": engine.title,
                "framework": engine.framework,
                "another_training": engine.another,
                "missing": engine.missing() or probe.broken(engine.proof, engine.get),
            }
            for engine in engines.every()
        ]
        ready = any(engine["missing"] is None for engine in found["engines"])
        status = Status.DONE if ready else Status.FAILED
        if as_json:
            render.print_data(found | {"status": int(status)})
        else:
            _print(found)
    raise typer.Exit(int(status))


def _print(found: dict[str, Any]) -> None:
    from rich.text import Text

    out = render.console()
    last = ""
    for heading, text, style in _lines(found):
        head = heading if heading != last else ""
        out.print(Text().append(f"{head:<10}", "bold").append(text, style))
        last = heading


def _lines(found: dict[str, Any]) -> Iterator[Line]:
    yield "trainera", found["trainera"], PLAIN
    yield "python", f"{found['python']} ({found['executable']})", PLAIN
    yield "system", found["system"], PLAIN
    cores = found["cores"]
    yield "cores", f"{cores['usable']} usable of {cores['total']}", PLAIN
    yield "memory", _memory(found["memory_bytes"]), PLAIN
    yield from _torch(found["torch"])
    yield from _devices(found)
    for engine in found["engines"]:
        name = f"{engine['name']} ({engine['title']})"
        if engine["missing"] is None:
            alone = "; for bench alone: another training" if engine["another_training"] else ""
            yield "engines", f"{name}: ready{alone}", GOOD
        else:
            yield "engines", f"{name}: missing: {engine['missing']}", BAD
    yield "meters", *_rapl(found["meters"]["rapl"])
    yield "meters", *_nvml(found["meters"]["nvml"])


def _memory(memory: dict[str, int | None]) -> str:
    total, available = memory["total"], memory["available"]
    if total is None:
        return "not known"
    free = "" if available is None else f"{available / 2**30:.1f} GiB free of "
    return f"{free}{total / 2**30:.1f} GiB"


def _torch(torch: dict[str, Any] | None) -> Iterator[Line]:
    if torch is None:
        yield "torch", "not installed; pip install torch", BAD
    elif "error" in torch:
        yield "torch", f"installed but broken: {torch['error']}; reinstall it", BAD
    else:
        yield "torch", f"{torch['version']} ({torch['build']} build)", GOOD


def _devices(found: dict[str, Any]) -> Iterator[Line]:
    names: list[str] = (found["torch"] or {}).get("devices", [])
    for index, name in enumerate(names):
        yield "devices", f"GPU {index}: {name}", GOOD
    if names:
        return
    for gpu in found["gpus"]:
        yield "devices", f"GPU that torch cannot use: {gpu}; install its CUDA build", BAD
    if not found["gpus"]:
        yield "devices", "no GPU; workers share the cores", PLAIN


def _rapl(rapl: dict[str, Any]) -> tuple[str, str]:
    if not rapl["counters"]:
        return "RAPL (processor energy): not on this machine", BAD
    if rapl["readable"] < rapl["counters"]:
        how = "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
        return f"RAPL (processor energy): here, but not readable; {how}", BAD
    return f"RAPL (processor energy): {render.counted(rapl['counters'], 'counter')}", GOOD


def _nvml(nvml: dict[str, Any]) -> tuple[str, str]:
    if "error" in nvml:
        return "NVML (GPU energy): not here; it comes with NVIDIA's driver", BAD
    return f"NVML (GPU energy): {render.counted(nvml['devices'], 'device')}", GOOD
