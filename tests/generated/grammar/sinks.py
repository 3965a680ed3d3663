"""Where figures of batches go: totals, meters, lists, dictionaries, metrics."""

from dataclasses import dataclass

from tests.generated.grammar.data import Data
from tests.generated.grammar.words import Figures, Lines, Script, block, method


@dataclass
class Sink:
    """Collects a figure over the batches of an epoch."""

    start: Lines
    update: Lines
    results: Figures


def batch_figures(script: Script, data: Data, loss: str) -> Figures:
    """Figures of one batch, as expressions of `out`, `y` and the loss."""
    draw = script.draw
    figures = {
        "loss": draw.one(
            f"{loss}.item()", f"{loss}.item()", f"float({loss})", f"{loss}.detach().item()"
        )
    }
    figures["n"] = draw.one("len(y)", "y.size(0)", "x.shape[0]", "len(x)", "y.shape[0]")
    if data.task == "classes":
        more = {
            "correct": draw.one(
                "(out.argmax(1) == y).sum().item()",
                "out.argmax(dim=1).eq(y).sum().item()",
                "int((out.max(1)[1] == y).sum())",
                "(torch.argmax(out, 1) == y).double().sum().item()",
            ),
            "accuracy": draw.one(
                "(out.argmax(1) == y).double().mean().item()",
                "(out.argmax(1) == y).sum().item() / len(y)",
            ),
            "top": "out.softmax(1).max(1).values.mean().item()",
        }
    elif data.task == "binary":
        more = {
            "correct": draw.one(
                "((out > 0) == (y > 0.5)).sum().item()", "((out > 0).double() == y).sum().item()"
            ),
            "positive": "torch.sigmoid(out).mean().item()",
            "largest": "out.abs().max().item()",
        }
    else:
        more = {
            "error": draw.one("(out - y).abs().mean().item()", "(out - y).abs().sum().item()"),
            "rmse": "((out - y) ** 2).mean().sqrt().item()",
            "largest": "(out - y).abs().max().item()",
        }
    for name in draw.some(list(more), 0, 2):
        figures[name] = more[name]
    return figures


def meter_class(script: Script) -> tuple[str, str]:
    """Defines an average meter, once; its name and how the average is asked for."""
    draw = script.draw
    ask = draw.one("property", "method", "attribute")
    name = script.name("AverageMeter")
    start = ["self.total = 0.0", "self.count = 0"] + (
        ["self.average = 0.0"] if ask == "attribute" else []
    )
    update = ["self.total += value * n", "self.count += n"]
    update += ["self.average = self.total / self.count"] if ask == "attribute" else []
    lines = block(f"class {name}:", block("def __init__(self):", draw.one(["self.reset()"], start)))
    lines += ["", *[f"    {line}" for line in block("def reset(self):", start)]]
    lines += ["", *[f"    {line}" for line in block("def update(self, value, n=1):", update)]]
    if ask != "attribute":
        decorated = ["    @property"] if ask == "property" else []
        body = ["return self.total / max(self.count, 1)"]
        lines += ["", *decorated, *[f"    {line}" for line in block("def average(self):", body)]]
    script.define(*lines)
    return name, "average()" if ask == "method" else "average"


def make_sinks(
    script: Script, data: Data, figures: Figures, raw: bool, prefix: str = "", most: int = 3
) -> list[Sink]:
    """Up to `most` of them; the first is about the loss. `raw`: `out` and `y` are at hand."""
    draw = script.draw
    kinds = ["total", "mean", "list", "meter", "dict", "default", "ema", "extreme", "counter"]
    if raw:
        kinds += ["cat", "metrics", "tally"]
    chosen = draw.some(kinds, 1, most if draw.richness > 0.5 else 1)
    sinks = []
    for place, kind in enumerate(chosen):
        name = "loss" if place == 0 else draw.choice([one for one in figures if one != "n"])
        sinks.append(_sink(script, data, kind, name, figures, prefix))
        script.features.add(f"sink {kind}")
    return sinks


def _sink(script: Script, data: Data, kind: str, name: str, figures: Figures, prefix: str) -> Sink:
    draw = script.draw
    value, n = figures[name], figures["n"]
    many = name in ("correct", "n")
    if kind == "mean":
        total, count = prefix + script.name(f"{name}_sum"), prefix + script.name("seen")
        update = [f"{total} += {value}{'' if many else f' * {n}'}", f"{count} += {n}"]
        return Sink([f"{total} = 0.0", f"{count} = 0"], update, {name: f"{total} / {count}"})
    if kind == "total":
        total, count = prefix + script.name(f"total_{name}"), prefix + script.name("batches")
        update = [f"{total} = {total} + {value}", f"{count} += 1"]
        return Sink(
            [f"{total} = 0.0", f"{count} = 0"],
            update,
            {f"total_{name}": total, f"mean_{name}": f"{total} / {count}"},
        )
    if kind == "list":
        values = prefix + script.name(f"{name}s")
        add = draw.one(
            f"{values}.append({value})",
            f"{values} += [{value}]",
            f"{values}.extend([{value}, {value}])",
        )
        return Sink(
            [f"{values} = []"],
            [add],
            {name: f"sum({values}) / len({values})", f"last_{name}": f"{values}[-1]"},
        )
    if kind == "meter":
        meter = prefix + script.name("meter")
        made, ask = meter_class(script)
        update = draw.one(
            f"{meter}.update({value}, {n})",
            f"{meter}.update({value}, n={n})",
            f"{meter}.update({value})",
        )
        return Sink([f"{meter} = {made}()"], [update], {f"avg_{name}": f"{meter}.{ask}"})
    if kind == "dict":
        totals = prefix + script.name("totals")
        update = [f'{totals}["{name}"] += {value}', f'{totals}["n"] += {n}']
        if draw.often(0.3):
            update = [
                f'{totals}["{name}"] = {totals}.get("{name}", 0.0) + {value}',
                f'{totals}["n"] += {n}',
            ]
        return Sink(
            [f'{totals} = {{"{name}": 0.0, "n": 0}}'],
            update,
            {
                f"sum_{name}": f'{totals}["{name}"]',
                "per_sample": f'{totals}["{name}"] / {totals}["n"]',
            },
        )
    if kind == "default":
        script.needs("from collections import defaultdict")
        sums = prefix + script.name("sums")
        if draw.often(0.5):
            keys = [one for one in figures if one != "n"]
            made = ", ".join(f'("{one}", {figures[one]})' for one in keys)
            update = block(f"for key, value in [{made}]:", [f"{sums}[key] += value"])
            return Sink(
                [f"{sums} = defaultdict(float)"],
                update,
                {f"all_{one}": f'{sums}["{one}"]' for one in keys},
            )
        update = [f'{sums}["{name}"].append({value})']
        return Sink(
            [f"{sums} = defaultdict(list)"], update, {f"max_{name}": f'max({sums}["{name}"])'}
        )
    if kind == "ema":
        ema = prefix + script.name("ema")
        update = [f"{ema} = {value} if {ema} is None else 0.9 * {ema} + 0.1 * {value}"]
        return Sink([f"{ema} = None"], update, {f"ema_{name}": ema})
    if kind == "extreme":
        worst = prefix + script.name("worst")
        update = draw.one(
            [f"{worst} = max({worst}, {value})"],
            block(f"if {value} > {worst}:", [f"{worst} = {value}"]),
        )
        return Sink([f"{worst} = -1e9"], update, {f"worst_{name}": worst})
    if kind == "counter":
        script.needs("from collections import Counter")
        counts = prefix + script.name("counts")
        update = [f'{counts}["high" if {value} > 0.7 else "low"] += {draw.one("1", n)}']
        return Sink(
            [f"{counts} = Counter()"],
            update,
            {"high": f'{counts}["high"]', "low": f'{counts}["low"]'},
        )
    if kind == "cat":
        return _collected(script, data, prefix)
    if kind == "tally":
        return _tally(script, data, prefix)
    return _metrics(script, data, prefix)


def _collected(script: Script, data: Data, prefix: str) -> Sink:
    """All outputs, put together at the end."""
    outs, ys = prefix + script.name("outs"), prefix + script.name("ys")
    update = [f"{outs}.append(out.detach())", f"{ys}.append(y)"]
    if data.task == "classes":
        figure = f"(torch.cat({outs}).argmax(1) == torch.cat({ys})).double().mean().item()"
    else:
        figure = f"(torch.cat({outs}) - torch.cat({ys})).abs().mean().item()"
    return Sink(
        [f"{outs}, {ys} = [], []"], update, {"collected": figure, "rows": f"len(torch.cat({outs}))"}
    )


def _tally(script: Script, data: Data, prefix: str) -> Sink:
    """Counts by class or by sign, in a tensor or a list."""
    draw = script.draw
    table = prefix + script.name("table")
    if data.task == "classes":
        update = draw.one(
            block("for t, p in zip(y, out.argmax(1)):", [f"{table}[t, p] += 1"]),
            block("for t, p in zip(y.tolist(), out.argmax(1).tolist()):", [f"{table}[t][p] += 1"]),
            [f"{table} += torch.bincount(y * 3 + out.argmax(1), minlength=9).reshape(3, 3)"],
        )
        results = {"diagonal": f"{table}.diag().sum().item()", "corner": f"{table}[0, 2].item()"}
        return Sink([f"{table} = torch.zeros(3, 3, dtype=torch.long)"], update, results)
    update = draw.one(
        [f"{table}[0] += (out > 0).sum().item()", f"{table}[1] += (out <= 0).sum().item()"],
        block("for value in out.detach().flatten().tolist():", [f"{table}[value > 0] += 1"]),
    )
    return Sink([f"{table} = [0, 0]"], update, {"first": f"{table}[0]", "second": f"{table}[1]"})


def _metrics(script: Script, data: Data, prefix: str) -> Sink:
    """Objects of one to four classes, each with update() and compute()."""
    draw = script.draw
    metrics = prefix + script.name("metrics")
    wishes = draw.some(["MeanOut", "HitRate", "MaxOut", "SumSquares"], 1, 4)
    names = [_metric(script, data, wish) for wish in wishes]
    script.features.add(f"metrics {len(names)}")
    if draw.often(0.5):
        made = "[" + ", ".join(f"{one}()" for one in names) + "]"
        update = block(f"for metric in {metrics}:", ["metric.update(out, y)"])
        figure = f"sum(metric.compute() for metric in {metrics})"
        return Sink(
            [f"{metrics} = {made}"],
            update,
            {"metrics": figure, "metric": f"{metrics}[0].compute()"},
        )
    made = "{" + ", ".join(f'"{one.lower()}": {one}()' for one in names) + "}"
    update = block(f"for key, metric in {metrics}.items():", ["metric.update(out, y)"])
    results = {one.lower(): f'{metrics}["{one.lower()}"].compute()' for one in names}
    return Sink([f"{metrics} = {made}"], update, results)


def _metric(script: Script, data: Data, wish: str) -> str:
    draw = script.draw
    name = script.name(wish)
    hit = {
        "classes": "(out.argmax(1) == y).sum().item()",
        "binary": "((out > 0) == (y > 0.5)).sum().item()",
        "regression": "((out - y).abs() < 0.5).all(1).sum().item()",
    }[data.task]
    update, compute = {
        "MeanOut": (
            ["self.total += out.mean().item()", "self.count += 1"],
            "self.total / self.count",
        ),
        "HitRate": (
            [f"self.total += {hit}", f"self.count += {draw.one('len(y)', 'y.shape[0]')}"],
            "self.total / self.count",
        ),
        "MaxOut": (["self.total = max(self.total, out.max().item())"], "self.total"),
        "SumSquares": (["self.total += (out ** 2).sum().item()"], "self.total"),
    }[wish]
    script.define(
        *block(
            f"class {name}:",
            block("def __init__(self):", ["self.total = 0.0", "self.count = 0"]),
            method("def update(self, out, y):", update),
            method("def compute(self):", [f"return {compute}"]),
        )
    )
    return name
