"""Converts an example, runs it as one process and as two workers, and compares what they print.
Then measures a small workload that way and writes the report.

make demo
python examples/demo.py picture.svg    also saves the comparison as a picture
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

SCRIPT = Path(__file__).with_name("digits_args.py")
ARGUMENTS = ["--epochs", "4"]
NUMBER = re.compile(r"\d+\.\d+")


def run(console: Console, title: str, command: list[str], folder: str) -> tuple[list[str], float]:
    """The lines that a command prints, and how long it took."""
    with console.status(f"{title}: training …"):
        started = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        seconds = time.perf_counter() - started
    if done.returncode:
        console.print(Text(done.stderr), style="red")
        raise SystemExit(f"{title} failed with status {done.returncode}")
    return done.stdout.splitlines(), seconds


def marked(line: str, other: str) -> tuple[Text, int, int]:
    """The line with the numbers that agree to the last digit in green; how many do, of how many."""
    text, agree = Text(line), 0
    theirs = NUMBER.findall(other)
    found = list(NUMBER.finditer(line))
    for number, match in enumerate(found):
        same = number < len(theirs) and theirs[number] == match.group()
        agree += same
        text.stylize("bold green" if same else "bold yellow", *match.span())
    return text, agree, len(found)


def main() -> None:
    console = Console()
    trainera = [sys.executable, "-m", "trainera"]
    console.rule("1. What changes: trainera convert examples/digits_args.py --diff")
    diff = subprocess.run(
        [*trainera, "convert", str(SCRIPT), "--diff"], capture_output=True, text=True, check=True
    ).stdout
    diff = diff.replace(str(SCRIPT), "examples/digits_args.py")
    if console.is_terminal:
        console.print(Syntax(diff, "diff", background_color="default", word_wrap=True))
    else:
        print(diff, flush=True)  # a pipe has no width to wrap at

    console.rule("2. The same training, sequential and on 2 workers")
    with tempfile.TemporaryDirectory() as folder:
        alone, alone_s = run(
            console, "1 process", [sys.executable, str(SCRIPT), *ARGUMENTS], folder
        )
        command = [*trainera, "run", str(SCRIPT), "-n", "2", "--", *ARGUMENTS]
        crew, crew_s = run(console, "2 workers", command, folder)
    picture = Console(record=True, width=104)
    table = Table("python digits_args.py", "trainera run digits_args.py -n 2", expand=True)
    agree = total = 0
    for one, other in zip(alone, crew, strict=False):
        left, same, count = marked(one, other)
        table.add_row(left, marked(other, one)[0])
        agree, total = agree + same, total + count
    picture.print(table)
    verdict = f"{agree} of {total} printed numbers agree to the last digit"
    if len(alone) != len(crew):
        verdict = f"{len(alone)} lines became {len(crew)}"
    picture.print(
        Panel(
            f"{verdict} (float32, so a last digit may differ by rounding).\n"
            f"Sequential {alone_s:.1f} s, 2 workers {crew_s:.1f} s, both with start-up.",
            title="result",
        )
    )
    if len(sys.argv) > 1:
        drawing = picture.export_svg(title="make demo")
        # A picture must not fetch fonts from elsewhere.
        Path(sys.argv[1]).write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL))
    if len(alone) != len(crew):
        raise SystemExit(1)

    console.rule("3. What it gains: trainera bench mnist_mlp, then trainera report")
    store = Path("demo-bench.db")
    store.unlink(missing_ok=True)
    for words in (
        ["bench", "mnist_mlp", "--strategies", "sequential,ddp:1,ddp:2", "--store", str(store)],
        ["report", str(store), "-o", "demo-report.html"],
    ):
        subprocess.run([*trainera, *words], check=True, timeout=900)


if __name__ == "__main__":
    main()
