"""What the README shows is what the tool says."""

from pathlib import Path

from trainera.pipeline import convert_script, plan_script
from trainera.rewrite.diff import unified_diff
from trainera.rules import pages

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_diff_is_real() -> None:
    _, (converted,) = convert_script(ROOT / "examples" / "digits_args.py")
    assert unified_diff(converted, name="examples/digits_args.py") in README


def test_the_diff_for_keras_is_real() -> None:
    _, (converted,) = convert_script(ROOT / "examples" / "keras_digits.py")
    lines = unified_diff(converted, name="examples/keras_digits.py").split("\n", 2)[2]
    assert lines in (ROOT / "docs" / "keras.md").read_text()


def test_the_diff_for_tensorflow_is_real() -> None:
    _, (converted,) = convert_script(ROOT / "examples" / "tf_digits.py", "horovod")
    lines = unified_diff(converted, name="examples/tf_digits.py").split("\n", 2)[2]
    assert lines in (ROOT / "docs" / "keras.md").read_text()


def test_the_refusal_is_real() -> None:
    plan = plan_script(ROOT / "tests" / "corpus" / "refused" / "buffer_of_batch_statistics.py")
    refusal = plan.refusals[0]
    assert f"{refusal.what} — {refusal.why} — {refusal.do}" in README


def test_the_rule_that_is_shown_exists() -> None:
    assert "trainera explain weight" in README
    assert "weight" in pages()


def test_every_folder_is_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    folders = [path.name for path in (ROOT / "src" / "trainera").iterdir() if path.is_dir()]
    assert all(f"`{name}/`" in text for name in folders if not name.startswith("__"))
    for module in (ROOT / "src" / "trainera" / "read").glob("[a-z]*.py"):
        if module.stem not in ("positions", "source", "modules", "distributed"):
            assert module.stem in text, module.stem
