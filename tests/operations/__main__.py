"""`python -m tests.operations`: every claim about tensor operations, tried against torch."""

import argparse
import signal
import sys
import zlib
from pathlib import Path

from tests.operations import work
from tests.operations.judge import BAD, Outcome
from tests.operations.scripts import USES
from tests.operations.tally import for_nothing_lines, table, wrong_lines


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.operations", description=__doc__)
    parser.add_argument("--entry", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--case", nargs="+", default=[], metavar="KEY", help="only these cases")
    parser.add_argument("--functions", action="store_true", help="only torch's functions")
    parser.add_argument("--layers", action="store_true", help="only torch's layers")
    parser.add_argument("--numpy", action="store_true", help="only numpy's functions")
    parser.add_argument("--forms", action="store_true", help="only operators, indexing, sizes")
    parser.add_argument("--use", nargs="+", default=list(USES), choices=USES)
    parser.add_argument("--sample-every", type=int, default=1, metavar="K")
    parser.add_argument("--limit", type=int, default=16, metavar="N", help="cases an entry; 0: all")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--shuffle", action="store_true", help="in another order of entries")
    parser.add_argument("--jobs", type=int, default=2, choices=(1, 2))
    parser.add_argument("--by", default="family", choices=("family", "use", "entry", "truth"))
    parser.add_argument("--list-wrong", action="store_true", help="with a script for each")
    parser.add_argument("--list-needless", action="store_true", help="gathered though row-wise")
    parser.add_argument("--save-wrong", type=Path, metavar="FILE", help="append a line for each")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a table of all operations")
    return parser.parse_args(words)


def main() -> int:
    options = parse()
    # So that children and files are gone when somebody ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    work.prepare()
    from tests.operations.entries import all_entries, by_keys

    families = [
        name for name in ("functions", "layers", "numpy", "forms") if getattr(options, name)
    ]
    entries = by_keys(options.case) or all_entries(families, options.entry, options.seed)
    if not entries:
        print("no such entry", file=sys.stderr)
        return 2
    if options.shuffle:
        entries.sort(key=lambda entry: zlib.crc32(f"{options.seed} {entry.name}".encode()))
    choice = work.Choice(
        tuple(options.use), options.limit, max(options.sample_every, 1), options.seed
    )

    def save(found: list[Outcome]) -> None:
        """At once, because somebody may be waiting for them."""
        if options.save_wrong:
            with options.save_wrong.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in wrong_lines(found))

    outcomes = work.go_through(entries, choice, options.jobs, save)
    if options.list_needless:
        print(*for_nothing_lines(outcomes), sep="\n")
    for outcome in outcomes:
        if options.list_wrong and outcome.verdict in BAD:
            print(f"== {outcome.verdict}, {outcome.use}: {outcome.key}\n   {outcome.message}")
            print(outcome.script)
    if options.write:
        from tests.operations.page import page

        options.write.write_text(page(outcomes, choice))
    print(*table(outcomes, lambda outcome: str(getattr(outcome, options.by))), sep="\n")
    return int(any(outcome.verdict in BAD for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
