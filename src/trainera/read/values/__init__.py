"""What a value is, as seen from the workers: the same on each of them, or a share of a batch.

The machine gives every expression a *value*. Shares form a small algebra: a mean over a slice times
its count is a sum, a sum over a count is a mean, a slice compared with a slice is a slice. Where a
share leaves the part of the program that this algebra understands, the value of the whole batch is
gathered in its place; how is decided by what kind of share it is.
"""

from trainera.read.values.base import (
    NOBODY,
    PLAIN,
    UNKNOWN_YET,
    Answer,
    Const,
    FirstOnly,
    HashOrdered,
    LibraryObject,
    Nodes,
    OwnModule,
    PerWorker,
    Qualified,
    Union,
    Value,
)
from trainera.read.values.code import (
    Choice,
    Class,
    Function,
    Object,
    PartialCall,
    Property,
    SuperObject,
)
from trainera.read.values.containers import Dictionary, Items, Many, Record
from trainera.read.values.roles import (
    BatchIterable,
    Loader,
    LossFunction,
    Network,
    Optimizer,
    Parameters,
)
from trainera.read.values.shares import (
    Blend,
    Count,
    Gathered,
    Lost,
    Mean,
    NetworkCalls,
    Shard,
    ShardShape,
    Share,
    Sum,
    left_over,
)

__all__ = [
    "NOBODY",
    "PLAIN",
    "UNKNOWN_YET",
    "Answer",
    "BatchIterable",
    "Blend",
    "Choice",
    "Class",
    "Const",
    "Count",
    "Dictionary",
    "FirstOnly",
    "Function",
    "Gathered",
    "HashOrdered",
    "Items",
    "LibraryObject",
    "Loader",
    "LossFunction",
    "Lost",
    "Many",
    "Mean",
    "Network",
    "NetworkCalls",
    "Nodes",
    "Object",
    "Optimizer",
    "OwnModule",
    "Parameters",
    "PartialCall",
    "PerWorker",
    "Property",
    "Qualified",
    "Record",
    "Shard",
    "ShardShape",
    "Share",
    "Sum",
    "SuperObject",
    "Union",
    "Value",
    "left_over",
]
