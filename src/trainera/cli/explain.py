"""``trainera explain``: the page of a rule."""

from typing import Annotated

import typer

from trainera.cli import render
from trainera.cli.options import unknown
from trainera.errors import UserError

EPILOG = """\
[bold]Examples[/bold]
  trainera explain          all rules, a line each
  trainera explain split    what the rule does, why, and its limits

A rule is named in every message and by `trainera convert --explain`.
"""


def explain(
    rule: Annotated[
        str | None, typer.Argument(metavar="[RULE]", help="The rule.", show_default=False)
    ] = None,
) -> None:
    """Explain a rule: what it changes, why, and where its limits are."""
    from trainera import rules

    pages = rules.pages()
    if rule is None:
        _list(pages)
    elif rule in pages:
        _show(pages[rule])
    else:
        raise UserError(unknown("rule", rule, pages))


def _list(pages: dict[str, str]) -> None:
    from rich.text import Text

    out = render.console()
    width = max(map(len, pages), default=0)
    for name, page in sorted(pages.items()):
        first = next((line for line in page.splitlines() if line.strip()), "").strip("# ")
        out.print(Text(f"{name:<{width}}", style="cyan").append(f"  {first}", "default"))
    if out.is_terminal:
        render.say("\ntrainera explain RULE shows the page of one")


def _show(page: str) -> None:
    out = render.console()
    if not out.is_terminal:
        print(page.strip())
        return
    from rich.markdown import Markdown

    out.print(Markdown(page), soft_wrap=False)
