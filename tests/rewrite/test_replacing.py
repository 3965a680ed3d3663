"""Another expression in the place of a name."""

from tests.rewrite.rewriting import CREW, convert, wrap
from trainera.plan import Replace


def test_a_name_is_replaced_where_it_stands() -> None:
    new = Replace(text="whole")
    assert convert("a = z @ z.T\n", ("z", new, CREW)).after.endswith(b"a = whole @ z.T\n")
    assert convert("a = f'{z!r}'\n", ("z", new)).after == b"a = f'{whole!r}'\n"
    assert convert("a = (z) + z\n", ("z", new)).after == b"a = (whole) + z\n"


def test_what_goes_around_the_name_goes_around_the_new_one() -> None:
    edits = (("z", Replace(text="whole")), ("z", wrap("{} * 2")))
    assert convert("a = z ** 2\n", *edits).after == b"a = (whole * 2) ** 2\n"
