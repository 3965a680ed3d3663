"""What a reading runs into, and the words that rules have for it."""

import ast
import string
from importlib import import_module
from pathlib import Path

import trainera.read
from trainera import rules

READ = Path(trainera.read.__file__).parent


def noted() -> dict[tuple[str, str], set[str]]:
    """Every refusal that the analysis asks for, by rule and code, with the details it gives."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in READ.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("notes.trouble"):
                rule, code = (ast.literal_eval(argument) for argument in node.args[:2])
                found[rule, code] = {keyword.arg or "" for keyword in node.keywords}
    return found


def worded() -> dict[tuple[str, str], set[str]]:
    """Every refusal that a rule has words for, with the details that these leave open."""
    return {
        (name, code): {
            field
            for text in (words.what, words.why, words.do)
            for _, field, _, _ in string.Formatter().parse(text)
            if field is not None
        }
        for name, module in rules.modules("torch")
        for code, words in getattr(import_module(module), "REFUSALS", {}).items()
    }


def test_every_refusal_has_its_words_and_all_words_are_used() -> None:
    assert noted() == worded()
