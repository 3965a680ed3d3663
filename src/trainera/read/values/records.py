"""Objects that only hold values."""

from collections.abc import Sequence

from trainera.read.values import Record, Value
from trainera.read.values.contents import holds_share


def as_record(
    names: Sequence[str], positional: Sequence[Value], keywords: dict[str, Value]
) -> Record | None:
    """What is put together of a batch's values, if it is known under which names."""
    if len(positional) > len(names) or {"*", "**"} & keywords.keys():
        return None
    items = dict(zip(names, positional, strict=False)) | keywords
    if not any(holds_share(value) for value in items.values()):
        return None
    order = [name for name in names if name in items] or list(items)
    return Record(tuple((name, items[name]) for name in order))
