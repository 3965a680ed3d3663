"""Writing converted files: all or none, never half a file, never over somebody's work."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from trainera.cli.render import shown
from trainera.errors import UserError
from trainera.plan import Converted


@dataclass(frozen=True, kw_only=True)
class Output:
    """One file that is to be written."""

    path: Path
    content: bytes = field(repr=False)
    source: Path
    """The file it was made from, which gives the permissions to a new file."""


def in_place(converted: Iterable[Converted]) -> tuple[Output, ...]:
    """Every changed file onto itself, unless it has changed since it was read."""
    outputs = []
    for one in converted:
        path = one.path.resolve()
        if path.read_bytes() != one.before:
            raise UserError(f"{shown(one.path)}: changed while it was being converted — try again")
        outputs.append(Output(path=path, content=one.after, source=path))
    return tuple(outputs)


def as_file(converted: Converted, path: Path) -> tuple[Output, ...]:
    """The one changed file at another path."""
    return (Output(path=path, content=converted.after, source=converted.path),)


def as_directory(
    script: Path,
    modules: Iterable[Path],
    converted: Iterable[Converted],
    directory: Path,
    roots: Iterable[Path] = (),
) -> tuple[Output, ...]:
    """The script with all its own modules, changed or not, in the layout that they have now.

    That goes up to the folders that modules are imported from (`roots`), so that packages keep
    their names.
    """
    sources = [path.resolve() for path in (script, *modules)]
    after = {one.path.resolve(): one.after for one in converted}
    sources = list(dict.fromkeys([*sources, *after]))
    root = Path(os.path.commonpath([*(one.parent for one in sources), *roots]))
    return tuple(
        Output(
            path=directory / source.relative_to(root),
            content=after[source] if source in after else source.read_bytes(),
            source=source,
        )
        for source in sources
    )


def check_targets(outputs: Sequence[Output], *, force: bool) -> None:
    """Raises if an output would replace a source, or a file that trainera did not write."""
    sources = {output.source.resolve() for output in outputs}
    for output in outputs:
        if output.path.resolve() in sources:
            raise UserError(
                f"{shown(output.path)}: that is the script itself, not another file — "
                "use --in-place to convert it where it stands"
            )
        if output.path.is_dir():
            raise UserError(f"{shown(output.path)}: is a directory — choose another path with -o")
        if not force and output.path.exists() and not _written_by_trainera(output.path):
            raise UserError(
                f"{shown(output.path)}: exists, and was not written by trainera or was changed "
                "since — choose another path with -o, or overwrite it with --force"
            )


def write(outputs: Sequence[Output]) -> None:
    """Writes all the new contents beside their targets first, then puts each in its place."""
    ready: list[tuple[Path, Output]] = []
    replaced: list[tuple[Path, bytes | None]] = []
    try:
        for output in outputs:
            output.path.parent.mkdir(parents=True, exist_ok=True)
            ready.append((_write_beside(output), output))
        for temporary, output in ready:
            before = output.path.read_bytes() if output.path.is_file() else None
            temporary.replace(output.path)
            replaced.append((output.path, before))
    except BaseException:
        for path, before in replaced:  # all or none: those already in place go back
            if before is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(before)
        raise
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)
    for output in outputs:
        _remember(output)


def _write_beside(output: Output) -> Path:
    like = output.path if output.path.exists() else output.source
    descriptor, name = tempfile.mkstemp(dir=output.path.parent, prefix=f".{output.path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(output.content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, stat.S_IMODE(like.stat().st_mode))  # noqa: PTH101
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


# What trainera wrote is remembered by checksum outside the project, so that a conversion can be
# repeated freely while one that was edited by hand afterwards is never lost, and so that nothing
# has to be added to the converted files for it.


def _record(path: Path) -> Path:
    name = sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return _cache() / "trainera" / "written" / name


def _cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _remember(output: Output) -> None:
    # Without a home to write to, the next conversion asks for --force: a nuisance, not a failure.
    with suppress(OSError, RuntimeError):
        record = _record(output.path)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(sha256(output.content).hexdigest())


def _written_by_trainera(path: Path) -> bool:
    try:
        return _record(path).read_text() == sha256(path.read_bytes()).hexdigest()
    except (OSError, RuntimeError, UnicodeDecodeError):
        return False
