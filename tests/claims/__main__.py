"""`python -m tests.claims`: tries the claims of the table of operations, and tells how they fare.

Without running a script: each rule is asked directly, so that thousands of cases take minutes.
`python -m tests.operations` tries the same from outside, with workers.
"""

import argparse
import sys
import warnings
from pathlib import Path

from tests.claims.judge import GUARDED, MISSED, NO_FIT, RIGHT, UNKNOWN, WRONG, Tally, try_entry
from tests.claims.page import page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entry", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--most", type=int, default=12, metavar="N", help="samples an entry")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a table of all operations")
    parser.add_argument("--list", nargs="+", default=[WRONG], metavar="VERDICT")
    arguments = parser.parse_args()
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.simplefilter("ignore")
    tally = Tally()
    entries = [one for one in op_db if not arguments.entry or one.name in arguments.entry]
    for number, entry in enumerate(entries, 1):
        try_entry(entry, tally, arguments.most)
        if number % 50 == 0:
            print(f"{number} of {len(entries)}", file=sys.stderr, flush=True)
    for verdict in arguments.list:
        print("\n".join(tally.lines.get(verdict, [])))
    if arguments.write is not None:
        arguments.write.write_text(page(tally, arguments.most), encoding="utf-8")
    right, missed = tally.total(RIGHT), tally.total(MISSED)
    print(f"{tally.total(WRONG)} wrong, {right} right, {tally.total(GUARDED)} guarded at run time")
    print(f"{tally.total(NO_FIT)} of which slices do not fit, {missed} row by row but not claimed")
    print("no entry:", *sorted(tally.lines.get(UNKNOWN, [])))
    return int(tally.total(WRONG) > 0)


if __name__ == "__main__":
    sys.exit(main())
