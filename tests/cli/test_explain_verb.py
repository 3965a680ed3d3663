"""``trainera explain``: the page of a rule, or all rules in a line each."""

from small_project import Trainera

from trainera import rules


def test_all_rules_in_a_line_each(trainera: Trainera) -> None:
    result = trainera("explain")
    assert (result.status, result.stderr) == (0, "")
    listed = [line.split()[0] for line in result.stdout.splitlines()]
    assert listed == sorted(rules.pages())
    assert all(len(line.split()) > 2 for line in result.stdout.splitlines())


def test_every_rule_has_a_page(trainera: Trainera) -> None:
    for rule, page in rules.pages().items():
        assert trainera("explain", rule).stdout == f"{page.strip()}\n"


def test_a_rule_that_was_mistyped(trainera: Trainera) -> None:
    rule = sorted(rules.pages())[0]
    result = trainera("explain", f"{rule}x")
    assert (result.status, result.stdout) == (2, "")
    assert f"no rule is called '{rule}x' — did you mean {rule}?" in result.stderr
