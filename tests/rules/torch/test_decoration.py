"""Workers need not agree on what is seen in printed text only, and on everything else they must."""

import pytest

from tests.rules.tools import beyond

IMPORTS = "import json, logging, os, shutil, sys, time\nlog = logging.getLogger()"
FORMAT_TIME = """
def format_time(seconds):
    days = int(seconds / 86400)
    seconds = seconds - days * 86400
    text, parts = '', 1
    if days > 0:
        text += str(days) + 'D'
        parts += 1
    if seconds > 0 and parts <= 2:
        text += '%.1fs' % seconds
    if text == '':
        text = '0ms'
    return text
"""
BAR = """
def bar(current, total, message=None):
    width = shutil.get_terminal_size().columns
    now = time.time()
    parts = []
    parts.append('  Step: %s' % format_time(now - began))
    if message:
        parts.append(' | ' + message)
    text = ''.join(parts)
    sys.stdout.write(text)
    for _ in range(width - len(text)):
        sys.stdout.write(' ')
    if width > 80:
        sys.stdout.write('#' * (width - 80))
    sys.stdout.flush()
"""
BEGAN = "began = time.time()"


@pytest.mark.parametrize(
    "parts",
    [
        {"before": FORMAT_TIME + BEGAN, "step": "print(format_time(time.time() - began))"},
        {
            "before": FORMAT_TIME + BEGAN,
            "end": "took = format_time(time.time() - began)\nlog.info(f'epoch {epoch}: {took}')",
        },
        {"before": FORMAT_TIME + BEGAN + BAR, "step": "bar(1, 3, 'step')"},
        {
            "before": BEGAN,
            "end": "took = time.time() - began\n"
            "unit = 'min' if took > 60 else 's'\nprint(f'{took:.1f} {unit}')",
        },
        {"before": BEGAN, "step": "if time.time() - began > 60:\n    print('slow')"},
        {"before": "stamp = time.strftime('%H:%M')\nprint('begins', stamp)"},
        {"before": "width = os.get_terminal_size().columns\nif width > 80:\n    print('-' * 80)"},
    ],
)
def test_text_needs_no_agreement(parts: dict[str, str]) -> None:
    assert beyond(imports=IMPORTS, **parts) == []


LATE = "if time.time() - began > 60:"
AGREED = "if crew.agree(time.time() - began > 60):"


@pytest.mark.parametrize(
    ("step", "after"),
    [
        (f"{LATE}\n    break", ""),
        (f"{LATE}\n    optimizer.param_groups[0]['lr'] = 0.1", ""),
        (f"{LATE}\n    print(loss.item())", ""),
        (f"{LATE}\n    began = time.time()\n    torch.save(1, 'a.pt')", ""),
        (f"{LATE}\n    raise SystemExit", ""),
        (f"rate = 0.1\n{LATE}\n    rate = 0.2\noptimizer.param_groups[0]['lr'] = rate", ""),
        (f"word = 'a'\n{LATE}\n    word = 'b'\nif word == 'b':\n    break", ""),
        (f"word = 'a'\n{LATE}\n    word = 'b'\nopen('out.txt', 'w').write(word)", ""),
        (f"shown = 0.0\n{LATE}\n    shown = loss.item()\nprint(shown)", ""),
        (f"{LATE}\n    print('slow', file=open('log.txt', 'a'))", ""),
        (f"{LATE}\n    record['slow'] = True", "torch.save(record, 'record.pt')"),
        (f"{LATE}\n    slow.append(epoch)", "print(len(slow))"),
        (f"{LATE}\n    slow = slow + [epoch]", "def end():\n    torch.save(slow, 's.pt')\nend()"),
    ],
)
def test_all_else_does(step: str, after: str) -> None:
    before = f"{BEGAN}\nrecord = {{}}\nslow = []"
    assert AGREED in beyond(imports=IMPORTS, before=before, step=step, after=after)


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (  # what comes after is left out
            {
                "before": f"{BEGAN}\ndef note(loss):\n    if time.time() - began > 60:\n"
                "        return\n    torch.save(loss, 'loss.pt')",
                "step": "note(3)",
            },
            AGREED,
        ),
        (
            {
                "before": f"{BEGAN}\ndef late(seconds):\n    if seconds > 60:\n"
                "        return True\n    return False",
                "step": "if late(time.time() - began):\n    break",
            },
            "if crew.agree(seconds > 60):",
        ),
        (  # shown here, saved there
            {
                "before": FORMAT_TIME + BEGAN,
                "step": "print(format_time(time.time() - began))",
                "after": "torch.save(format_time(time.time() - began), 'a.pt')",
            },
            "if crew.agree(days > 0):",
        ),
        (
            {
                "before": "stamp = time.strftime('%H')\nprint(stamp)\n"
                "def save():\n    torch.save(model.state_dict(), f'{stamp}.pt')",
                "after": "save()",
            },
            "stamp = crew.agree(time.strftime('%H'))",
        ),
        (
            {
                "before": "def run():\n    stamp = time.strftime('%H')\n"
                "    def save():\n        torch.save(1, f'{stamp}.pt')\n    print(stamp)\n"
                "    save()\nrun()",
            },
            "stamp = crew.agree(time.strftime('%H'))",
        ),
        (  # another print
            {
                "before": f"{BEGAN}\nclass Out:\n    def write(self, text):\n"
                "        torch.save(text, 'a.pt')\nout = Out()\nsys.stdout = out",
                "step": "if time.time() - began > 60:\n    print('slow')",
            },
            AGREED,
        ),
        (
            {"before": "for name in os.listdir('.'):\n    print(name)\nprint(torch.load(name))"},
            "for name in crew.agree(os.listdir('.')):",
        ),
    ],
)
def test_wherever_else_it_goes(parts: dict[str, str], line: str) -> None:
    assert line in beyond(imports=IMPORTS, **parts)
