"""The diff is one that `patch` understands."""

import shutil
import subprocess

import pytest
from rewriting import CREW, after, convert, wrap

from trainera.rewrite.diff import unified_diff


def test_diff():
    converted = convert("import a\nb\nc\n", ("b", wrap("crew.f({})"), CREW))
    assert unified_diff(converted) == (
        f"--- train.py\n+++ train.py\n@@ -1,3 +1,4 @@\n import a\n-b\n+{CREW}\n+crew.f(b)\n c\n"
    )
    short = unified_diff(converted, name="a/t.py", new_name="b/t.py", context=0)
    assert short.startswith("--- a/t.py\n+++ b/t.py\n@@ -2 +2,2 @@\n-b\n")


def test_no_newline_at_the_end():
    converted = convert("a", ("a", after("x")))
    assert unified_diff(converted).endswith(
        "-a\n\\ No newline at end of file\n+a\n+x\n\\ No newline at end of file\n"
    )


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
@pytest.mark.parametrize("source", ["a\nb", "a\nb\n", "é\nb\n# c"])
def test_patch_accepts_it(tmp_path, source):
    converted = convert(source, ("b", after("x")), ("b", wrap("f({})")))
    script = tmp_path / "train.py"
    script.write_bytes(converted.before)
    patch = unified_diff(converted).encode()
    subprocess.run(["patch", str(script)], input=patch, check=True, capture_output=True)
    assert script.read_bytes() == converted.after
