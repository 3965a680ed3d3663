"""Stands in for the command line: runs a script, with hand-made conversions, and nothing else.

Beside each FILE.py that was "converted" stands FILE.py.after with what it became.
"""

import difflib
import sys
from pathlib import Path

from trainera.launch.local import run
from trainera.plan import Converted


def converted(path: Path) -> Converted:
    before, after = path.read_bytes(), path.with_name(f"{path.name}.after").read_bytes()
    old, new = before.decode().splitlines(), after.decode().splitlines()
    origin = [0] * len(new)
    for block in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            origin[block.b + offset] = block.a + offset + 1
    for index, line in enumerate(origin):
        origin[index] = line or (origin[index - 1] if index else 1)
    return Converted(path=path, before=before, after=after, lines=tuple(origin))


def listening_sockets() -> set[str]:
    """Inodes of the sockets of this process that listen."""
    mine = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            mine.add(str(link.readlink()))
        except OSError:
            continue
    rows = [
        line.split()
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in Path(table).read_text().splitlines()[1:]
    ]
    return {row[9] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine}


def main(words: list[str]) -> int:
    """Runs ``SCRIPT WORKERS ARGUMENT…`` and returns the exit status."""
    script, workers, *arguments = words
    changed = sorted(Path(script).parent.rglob("*.py.after"))
    status = run(
        Path(script),
        [converted(path.with_suffix("")) for path in changed],
        arguments,
        int(workers),
        say=lambda text: print(f"trainera: {text}", file=sys.stderr),
    )
    assert not listening_sockets(), "a port is still open"
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
