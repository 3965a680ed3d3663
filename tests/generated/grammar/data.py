"""Datasets and loaders: what a batch is made of."""

from dataclasses import dataclass

from tests.generated.grammar.words import Packing, Script, block, method


@dataclass
class Data:
    """A task: what there is to learn, and from which loaders."""

    task: str
    """`regression`, `classes` or `binary`."""
    width: int
    outputs: int
    packing: Packing
    """How a loader gives a batch."""
    train: str = "train_loader"
    valid: str = ""
    test: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        return self.packing.fields


def make_data(script: Script) -> Data:
    draw = script.draw
    task = draw.one("regression", "classes", "classes", "binary")
    width = draw.randint(3, 5)
    outputs = {"regression": draw.one(1, 2), "classes": 3, "binary": 1}[task]
    script.needs("import torch", "from torch.utils.data import DataLoader")
    fields = ["x", "y"]
    if draw.often(0.2):
        fields.append("w")
        script.features.add("sample weights")
    if draw.often(0.08):
        fields.append("index")
    script.setup += [
        "torch.set_default_dtype(torch.float64)",
        f"torch.manual_seed({draw.randrange(99)})",
    ]
    kind = draw.one("tensors", "tensors", "own", "own", "split", "subset")
    packing = Packing("tuple", tuple(fields))
    if kind in ("own", "split", "subset") and draw.often(0.5):
        packing = Packing.drawn(script, fields, "Sample", ("dict", "named", "tuple"))
    train, valid = draw.randint(23, 47), draw.randint(9, 23)
    splits = [("train", train)] + ([("valid", valid)] if draw.often(0.85) else [])
    if len(splits) == 2 and draw.often(0.25):
        splits.append(("test", draw.randint(7, 15)))
    make = _maker(script, task, width, outputs, fields, packing, kind)
    total = sum(size for _, size in splits)
    batch = draw.randint(5, 8)
    while any(size % batch == 0 for _, size in splits[:1]):
        batch = batch - 1 if batch > 5 else 8
        if draw.often(0.2):
            break
    sets: dict[str, str] = {}
    if kind == "split" and len(splits) > 1:
        script.needs("from torch.utils.data import random_split")
        names = [f"{name}_set" for name, _ in splits]
        sizes = ", ".join(str(size) for _, size in splits)
        script.setup += [f"dataset = {make}({total})"]
        script.setup += [f"{', '.join(names)} = random_split(dataset, [{sizes}])"]
        sets = {name: f"{name}_set" for name, _ in splits}
    elif kind == "subset" and len(splits) > 1:
        script.needs("from torch.utils.data import Subset")
        script.setup += [f"dataset = {make}({total})"]
        first = 0
        for name, size in splits:
            sets[name] = f"Subset(dataset, range({first}, {first + size}))"
            first += size
    else:
        sets = {name: f"{make}({size})" for name, size in splits}
    data = Data(task, width, outputs, packing)
    for name, _ in splits:
        options = f"batch_size={batch if name == 'train' else draw.one(batch, 7, 16)}"
        if name == "train":
            options += draw.one(
                "", ", shuffle=True", ", shuffle=True", ", shuffle=True, drop_last=True"
            )
        script.setup.append(f"{name}_loader = DataLoader({sets[name]}, {options})")
        setattr(data, name, f"{name}_loader")
    return data


def _maker(
    script: Script,
    task: str,
    width: int,
    outputs: int,
    fields: list[str],
    packing: Packing,
    kind: str,
) -> str:
    """Defines what makes a dataset of a given size."""
    draw = script.draw
    target = {
        "regression": f"torch.stack([x.sum(1), x[:, 0] * x[:, 1]], 1)[:, :{outputs}]",
        "classes": "x[:, :3].argmax(1)",
        "binary": "(x[:, 0] > x[:, 1]).double()",
    }[task]
    lines = [f"x = torch.randn(size, {width})", f"y = {target}"]
    if "w" in fields:
        lines.append("w = torch.rand(size) + 0.5")
    if "index" in fields:
        lines.append("index = torch.arange(size)")
    if kind == "tensors":
        script.needs("from torch.utils.data import TensorDataset")
        name = script.name("make_data")
        script.define(
            *block(f"def {name}(size):", lines, [f"return TensorDataset({', '.join(fields)})"])
        )
        return name
    script.needs("from torch.utils.data import Dataset")
    name = script.name("Samples")
    keep = [f"self.{one} = {one}" for one in fields]
    give = packing.pack(script, {one: f"self.{one}[i]" for one in fields})
    script.define(
        *block(
            f"class {name}(Dataset):",
            block("def __init__(self, size):", lines, keep),
            method("def __len__(self):", [f"return {draw.one('len(self.x)', 'self.x.size(0)')}"]),
            method("def __getitem__(self, i):", [f"return {give}"]),
        )
    )
    return name
