"""The page in a real browser: no error, every mark drawn, all text escaped, at any width."""

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made import made_runs

from trainera.report.charts import pareto_front
from trainera.report.document import document
from trainera.report.page import as_html
from trainera.results import Result

EVIL = "<script>document.title='caught'</script>"
SLOW = [10.0, 10.1, 9.9, 10.2, 9.8]
FAST = [5.0, 5.1, 4.9, 5.05, 4.95]

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
if CHROMIUM is None and not os.environ.get("CI"):
    pytest.skip("chromium is not installed", allow_module_level=True)


def runs(workload: str) -> list[Result]:
    failed = Result(
        workload=workload, strategy=f"{EVIL} 2", workers=2, state="failed", message=f"<b>{EVIL}"
    )
    return [
        *made_runs("sequential", SLOW, workload=workload, energy_j=200.0),
        *made_runs("ddp 1", [11.0, 11.1, 10.9, 11.0, 11.2], workload=workload, energy_j=210.0),
        *made_runs("ddp 2", FAST, workload=workload, workers=2, energy_j=180.0),
        *made_runs(EVIL, SLOW, workload=workload, workers=2),
        failed,
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    machine = {"system": EVIL, "cores": {"usable": 2}}
    report = document(
        "Which strategy to use",
        [*runs("digits"), *runs(EVIL)],
        machine=machine,
        request={"metric": EVIL},
        created="2024-06-07",
    )
    path.write_text(as_html(report))
    return path


def browse(page: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    assert CHROMIUM is not None, "CI must have chromium: apt-get install chromium"
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    logging = ("--enable-logging=stderr", "--log-level=0")
    return subprocess.run(
        [*words, profile, *logging, "--hide-scrollbars", *options, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )


class Marks(HTMLParser):
    """Counts what is drawn, by figure and by width."""

    def __init__(self) -> None:
        super().__init__()
        self.expected: list[int] = []
        self.names: list[str] = []
        self.drawn: list[dict[str, int]] = []
        self.width = ""
        self.titles: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.scripts += tag == "script"
        if tag == "figure":
            self.expected.append(int(found["data-marks"] or 0))
            self.names.append(found["data-chart"] or "")
            self.drawn.append({"wide": 0, "narrow": 0})
        if tag == "div" and found.get("class") in ("wide", "narrow"):
            self.width = found["class"] or ""
        role = found.get("aria-roledescription")
        wanted = {"metric": "line mark", "power": "line mark", "pareto": "point"}
        if self.names and role == wanted.get(self.names[-1], "bar"):
            self.drawn[-1][self.width] += 1


def test_every_mark_is_drawn_without_an_error(page: Path) -> None:
    done = browse(page, "--dump-dom", "--window-size=1440,2000")
    assert "CONSOLE" not in done.stderr, done.stderr
    marks = Marks()
    marks.feed(done.stdout)
    names = ["speedup", "efficiency", "phases", "metric", "power", "energy", "edp", "pareto"]
    assert marks.names == names * 2
    assert marks.expected[:8] == [4, 8, 20, 4, 3, 6, 6, 3]
    assert [one["wide"] for one in marks.drawn] == marks.expected
    assert [one["narrow"] for one in marks.drawn] == marks.expected


def test_what_users_write_is_text(page: Path) -> None:
    done = browse(page, "--dump-dom")
    marks = Marks()
    marks.feed(done.stdout)
    assert marks.scripts == 0
    assert "<title>Which strategy to use</title>" in done.stdout
    assert "&lt;script&gt;document.title='caught'&lt;/script&gt;" in done.stdout


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_screen(page: Path, width: int) -> None:
    # Framed, because the window itself cannot be made as narrow as a phone.
    frame = page.with_name(f"frame-{width}.html")
    open_page = re.sub(r"<meta http-equiv[^>]*>", "", page.read_text())
    page.with_name("open.html").write_text(open_page)
    measure = """
      const page = document.querySelector('iframe').contentDocument;
      const seen = [...page.querySelectorAll('figure svg')].filter(one => one.clientWidth > 0);
      const small = seen.filter(one => one.getBoundingClientRect().width < 200).length;
      document.body.append('wide ' + page.documentElement.scrollWidth
        + ' pictures ' + seen.length + ' small ' + small);
    """
    frame.write_text(
        f'<body><iframe src="open.html" width="{width}" height="900" style="border:0"'
        f' onload="{measure}"></iframe>'.replace("\n", " ")
    )
    done = browse(frame, "--dump-dom", "--allow-file-access-from-files", "--window-size=1600,1000")
    found = re.search(r"wide (\d+) pictures (\d+) small (\d+)", done.stdout)
    assert found is not None, done.stderr
    assert int(found[1]) <= width
    assert (found[2], found[3]) == ("16", "0"), "one picture of each chart, large enough to read"


def test_it_prints(page: Path) -> None:
    paper = page.with_name("report.pdf")
    browse(page, f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF")


def test_the_page_asks_nothing_of_the_network(page: Path) -> None:
    text = page.read_text()
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']+""", text)
    assert "@import" not in text


def test_ids_are_unique(page: Path) -> None:
    found = re.findall(r'\bid="([^"]+)"', page.read_text())
    assert len(found) == len(set(found)) >= 2


def test_the_front_holds_what_nothing_beats() -> None:
    points = [(3.0, 1.0), (1.0, 5.0), (2.0, 6.0), (2.0, 4.0), (4.0, 1.0)]
    assert pareto_front(points) == [(1.0, 5.0), (2.0, 4.0), (3.0, 1.0)]


def test_intervals_are_promised_where_there_are_some() -> None:
    few = [*made_runs("sequential", SLOW[:1]), *made_runs("ddp 2", FAST[:1], workers=2)]
    enough = [*made_runs("sequential", SLOW), *made_runs("ddp 2", FAST, workers=2)]
    pages = [as_html(document("Which strategy to use", found)) for found in (few, enough)]
    for words in ("bootstrap intervals in parentheses", "the line is the 95 % interval"):
        assert [words in page for page in pages] == [False, True]
