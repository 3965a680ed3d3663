"""Runs ``trainera verify`` over the whole corpus, with 2 and with 3 workers.

python -m tests.tools.verify_corpus
python -m tests.tools.verify_corpus --workers 3 tiny_gpt kfold
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tools.corpus import CASES, settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases; by default all")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 3])
    wanted = parser.parse_args()
    cases = [case for case in CASES if not wanted.names or case.name in wanted.names]
    bad = 0
    for case in cases:
        for workers in wanted.workers:
            outcome, reason = verify(case, workers)
            bad += outcome != "EQUIVALENT"
            print(f"{case.name:24} {workers} workers  {outcome}  {reason}", flush=True)
    total = len(cases) * len(wanted.workers)
    print(f"{total - bad} of {total} equivalent")
    return int(bad > 0)


def verify(case: Path, workers: int) -> tuple[str, str]:
    """The verdict on a case, run in a folder of its own, which must stay empty."""
    arguments = [str(word) for word in settings(case).get("arguments", [])]
    command = [sys.executable, "-m", "trainera", "verify", str(case / "train.py")]
    command += ["-n", str(workers), "--json", "--", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
        left = sorted(path.name for path in Path(folder).iterdir())
    if not done.stdout:
        return "NO VERDICT", done.stderr[-1_000:]
    verdict = json.loads(done.stdout)
    if left:
        return "LEFT FILES", ", ".join(left)
    return verdict["outcome"], "" if verdict["outcome"] == "EQUIVALENT" else verdict["reason"]


if __name__ == "__main__":
    sys.exit(main())
