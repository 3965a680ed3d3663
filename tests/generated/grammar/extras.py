"""Things around the training: loggers, transforms, decorators, context managers, closures."""

from tests.generated.grammar.words import Figures, Lines, Script, block, indented, method


def loggers(script: Script) -> str:
    """Defines a list of one to four loggers; its name."""
    draw = script.draw
    made = []
    chosen = draw.some(["ConsoleLogger", "ListLogger", "FileLogger", "TotalLogger"], 1, 4)
    script.features.add(f"loggers {len(chosen)}")
    for kind in chosen:
        name = script.name(kind)
        start, log, close = {
            "ConsoleLogger": (
                ["self.prefix = 'log'"],
                ['print(self.prefix, name, step, f"{value:.10f}")'],
                ["pass"],
            ),
            "ListLogger": (
                ["self.rows = []"],
                ["self.rows.append((step, value))"],
                ["print(self.rows)"],
            ),
            "FileLogger": (
                ['self.path = "log.csv"'],
                block(
                    'with open(self.path, "a") as file:',
                    ['file.write(f"{step},{name},{value:.10f}\\n")'],
                ),
                ["pass"],
            ),
            "TotalLogger": (
                ["self.total = 0.0"],
                ["self.total += value"],
                ['print("logged", self.total)'],
            ),
        }[kind]
        body = [
            *block("def __init__(self):", start),
            *method("def log(self, step, name, value):", log),
        ]
        script.define(*block(f"class {name}:", body, method("def close(self):", close)))
        made.append(f"{name}()")
    table = script.name("LOGGERS")
    script.define(f"{table} = [{', '.join(made)}]")
    return table


def logged(script: Script, table: str, step: str, figures: Figures) -> Lines:
    """Tells the loggers of a figure."""
    draw = script.draw
    name = draw.choice(list(figures))
    value = figures[name]
    if draw.often(0.5):
        return block(f"for logger in {table}:", [f'logger.log({step}, "{name}", {value})'])
    pairs = ", ".join(f'"{one}": {figures[one]}' for one in draw.some(list(figures), 1, 2))
    inner = block("for key, value in values.items():", [f"logger.log({step}, key, value)"])
    return [f"values = {{{pairs}}}", *block(f"for logger in {table}:", inner)]


def transforms(script: Script) -> str:
    """Defines a list of one to four transforms of a batch; its name."""
    draw = script.draw
    made = []
    chosen = draw.some(["Scale", "Shift", "Flip", "Clamp", "Centre"], 1, 4)
    script.features.add(f"transforms {len(chosen)}")
    for kind in chosen:
        name = script.name(kind)
        formula = {
            "Scale": "x * self.amount",
            "Shift": "x + 0.1 * self.amount",
            "Flip": "x.flip(1)",
            "Clamp": "x.clamp(-2 * self.amount, 2 * self.amount)",
            "Centre": draw.one(
                "x - x.mean(0)",
                "x - x.mean()",
                "x - x.mean(1, keepdim=True)",
                "x / (1 + x.abs().max())",
            ),
        }[kind]
        script.define(
            *block(
                f"class {name}:",
                block("def __init__(self, amount=0.9):", ["self.amount = amount"]),
                method("def __call__(self, x):", [f"return {formula}"]),
            )
        )
        made.append(f"{name}({draw.one('', '0.8', 'amount=1.1')})")
    if draw.often(0.3):
        name = script.name("Compose")
        body = block("for step in self.steps:", ["x = step(x)"])
        script.define(
            *block(
                f"class {name}:",
                block("def __init__(self, *steps):", ["self.steps = steps"]),
                method("def __call__(self, x):", body, ["return x"]),
            )
        )
        table = script.name("TRANSFORM")
        script.define(f"{table} = {name}({', '.join(made)})")
        return f"x = {table}(x)"
    table = script.name("TRANSFORMS")
    script.define(f"{table} = [{', '.join(made)}]")
    return table


def transformed(script: Script, table: str) -> Lines:
    if table.startswith("x ="):
        return [table]
    return block(f"for transform in {table}:", ["x = transform(x)"])


def decorator(script: Script) -> Lines:
    """Defines a decorator; the line that applies it."""
    draw = script.draw
    script.needs("import functools")
    kind = draw.one("counted", "announced", "plain")
    name = script.name(kind)
    script.features.add(f"decorator {kind}")
    before: Lines = []
    if kind == "counted":
        before = ["wrapper.calls += 1"]
    elif kind == "announced":
        before = ['print("call", function.__name__)']
    inner = block(
        "def wrapper(*args, **kwargs):",
        before,
        ["result = function(*args, **kwargs)", "return result"],
    )
    after = ["wrapper.calls = 0"] if kind == "counted" else []
    script.define(
        *block(
            f"def {name}(function):",
            ["@functools.wraps(function)", *inner, *after, "return wrapper"],
        )
    )
    return [f"@{name}"]


def phase(script: Script) -> str:
    """Defines a context manager of the script's own; the head of its block."""
    draw = script.draw
    script.features.add("own context manager")
    if draw.often(0.5):
        script.needs("from contextlib import contextmanager")
        name = script.name("phase")
        body = [
            'print("begin", title)',
            *draw.one(
                ["yield"], block("try:", ["yield"]) + block("finally:", ['print("end", title)'])
            ),
        ]
        script.define("@contextmanager", *block(f"def {name}(title):", body))
    else:
        name = script.name("Phase")
        script.define(
            *block(
                f"class {name}:",
                block("def __init__(self, title):", ["self.title = title", "self.left = 0"]),
                method("def __enter__(self):", ['print("begin", self.title)', "return self"]),
                method("def __exit__(self, *error):", ["self.left += 1", "return False"]),
            )
        )
    return f'with {name}("{draw.one("train", "epoch")}"){draw.one("", " as phase_now")}:'


def closed_over(
    script: Script, roles: list[str], parameters: tuple[str, ...], lines: Lines
) -> Lines:
    """Defines a function that makes the step; what makes it and gives it the name `step_fn`."""
    script.features.add("closure")
    name = script.name("make_step")
    inner = block(f"def step({', '.join(parameters)}):", lines)
    script.define(*block(f"def {name}({', '.join(roles)}):", inner, ["return step"]))
    given = ", ".join(roles if script.draw.often(0.5) else [f"{one}={one}" for one in roles])
    return [f"step_fn = {name}({given})"]


def first_of(lines: Lines, words: str) -> int:
    """Where a line with these words stands; -1 if there is none."""
    return next((place for place, line in enumerate(lines) if words in line), -1)


def inside(head: str, lines: Lines) -> Lines:
    return [head, *indented(lines)]
