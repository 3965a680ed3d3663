"""The layers of torch: how each is made, and what it gives for a part of a batch.

By the name of its class in `torch.nn`. Layouts are words, one letter a dimension (`ops/blocks.py`):
``n``: rows stay apart, ``x``: they are combined, ``p``: weights fix the size. Every entry is tried
against torch itself (`tests/operations`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from trainera.read.ops import along, blocks, elementwise, reductions, reshaping
from trainera.read.ops.blocks import placed, shifted
from trainera.read.ops.outcome import UNKNOWN, Outcome, made_of
from trainera.read.ops.signature import ALL, Bound, signature
from trainera.read.values import Items, Shard, Value
from trainera.read.values.base import changed

Rule = Callable[[Bound, Bound], Outcome]
"""From how a layer was made, and what it is given."""


@dataclass(frozen=True)
class Layer:
    """A class of torch's layers."""

    rule: Rule
    made: str
    takes: str


LAYERS: dict[str, Layer] = {}
LEARN = (
    *("Linear", "NonDynamically", "Bilinear", "Conv", "GRU", "LSTM", "RNN", "Multihead"),
    *("Transformer", "Embedding", "BatchNorm", "LayerNorm", "RMSNorm", "GroupNorm", "PReLU"),
)
"""How the names of layers with parameters begin: what they do is tried when a script runs."""


def has_parameters(name: str) -> bool:
    """Whether a layer of torch's may learn something; one that is not known may."""
    return name not in LAYERS or name.startswith(LEARN)


def add(names: str, rule: Rule, made: str = "**options", takes: str = "input") -> None:
    for name in names.split():
        if name in LAYERS:
            raise ValueError(f"torch.nn: a second entry for '{name}'")
        LAYERS[name] = Layer(rule, made, takes)


def gives(
    name: str,
    made: tuple[Sequence[Value], Mapping[str, Value]] | None,
    positional: Sequence[Value],
    keywords: Mapping[str, Value],
) -> Outcome:
    """What a layer gives that was made with these arguments."""
    known = LAYERS.get(name)
    if known is None or made is None:
        return UNKNOWN
    options = signature(known.made).bind(name, *made)
    call = signature(known.takes).bind(name, positional, keywords)
    if options is None or call is None or not call.shards:
        return UNKNOWN
    if len({(shard.ragged, shard.parts) for shard in call.shards}) > 1:
        return UNKNOWN
    return known.rule(options, call)


def _input(call: Bound) -> Shard | None:
    """The only part of a batch that a layer is given, as its first argument."""
    shard = call.input
    return shard if isinstance(shard, Shard) and len(call.shards) == 1 else None


def block(*layouts: str, change: int = 0) -> Rule:
    """A layer that gives every dimension a meaning."""

    def rule(made: Bound, call: Bound) -> Outcome:
        shard = _input(call)
        return UNKNOWN if shard is None else shifted(placed(shard, layouts), change)

    return rule


def pooled(*layouts: str) -> Rule:
    """Perhaps with the places of what it found."""

    def rule(made: Bound, call: Bound) -> Outcome:
        places = made.flag("return_indices")
        result = block(*layouts)(made, call)
        return UNKNOWN if places is None else reductions.several(result, 1 + places)

    return rule


def unpooled(*layouts: str) -> Rule:
    """Put back to places that were found."""
    return lambda made, call: blocks.unpooled(*layouts)(call)


def same(made: Bound, call: Bound) -> Outcome:
    """Entry by entry."""
    shard = _input(call)
    return UNKNOWN if shard is None else changed(shard, mask=False)


def wider(made: Bound, call: Bound) -> Outcome:
    """Each entry becomes a row of its own."""
    return UNKNOWN if _input(call) is None else elementwise.wider(call)


def along_dim(made: Bound, call: Bound) -> Outcome:
    """Along the dimension that the layer was made with."""
    shard = _input(call)
    return UNKNOWN if shard is None else along.kept(shard, made.dims())


def implicit(made: Bound, call: Bound) -> Outcome:
    """The same; without one torch takes the first of one or three dimensions, else the second."""
    shard = _input(call)
    return (
        along.unnamed(shard) if shard is not None and made.dims() == ALL else along_dim(made, call)
    )


def flattened(made: Bound, call: Bound) -> Outcome:
    if _input(call) is None:
        return UNKNOWN
    given = {"input": call.input, "start_dim": made["start_dim"], "end_dim": made["end_dim"]}
    return reshaping.flatten(Bound("flatten", given))


def unflattened(made: Bound, call: Bound) -> Outcome:
    if _input(call) is None:
        return UNKNOWN
    given = {"input": call.input, "dim": made["dim"], "sizes": made["unflattened_size"]}
    return reshaping.unflatten(Bound("unflatten", given))


def normalized(made: Bound, call: Bound) -> Outcome:
    """Over the last dimensions, whose sizes it was made with."""
    shard, sizes = _input(call), made["normalized_shape"]
    if shard is None:
        return UNKNOWN
    count = len(sizes.items) if isinstance(sizes, Items) else 1
    return placed(shard, ["*n" + "p" * count])


def between(made: Bound, call: Bound) -> Outcome:
    """A distance or similarity of two tensors."""
    given = {"x1": call["x1"], "x2": call["x2"]} | dict(made.values)
    return reductions.between(Bound("between", given))


def _sequence(made: Bound) -> list[str]:
    """Where a layer for sequences expects the batch; without one, all is one sequence."""
    match made.flag("batch_first"):
        case True:
            return ["nxp", "xp"]
        case False:
            return ["xnp", "xp"]
    return ["nxp", "xnp", "xp"]


def recurrent(states: int) -> Rule:
    """The outputs, and the last states, which have the batch in their second dimension."""

    def with_states(result: Value) -> Value:
        if not isinstance(result, Shard):
            return result
        last = replace(result, dim=1, rank=3)
        return Items((result, last if states == 1 else Items((last,) * states)))

    def rule(made: Bound, call: Bound) -> Outcome:
        shard = call.input
        if not isinstance(shard, Shard):
            return UNKNOWN
        return made_of(placed(shard, _sequence(made)), with_states)

    return rule


def cell(states: int) -> Rule:
    """One step of a recurrent layer."""

    def rule(made: Bound, call: Bound) -> Outcome:
        shard = call.input
        result = placed(shard, ["np", "p"]) if isinstance(shard, Shard) else UNKNOWN
        return reductions.several(result, states)

    return rule


def sequence(made: Bound, call: Bound) -> Outcome:
    """Positions of a sequence look at each other."""
    shard = call.input
    if not isinstance(shard, Shard):
        return UNKNOWN
    results = [placed(one, _sequence(made)) for one in call.shards[: 1 + ("tgt" in call.values)]]
    return next((one for one in results if not isinstance(one, Shard)), results[0])


def attention(made: Bound, call: Bound) -> Outcome:
    """The outputs, and how much each position looks at the others, with the batch in front."""
    parts = [call[name] for name in ("query", "key", "value")]
    placements = [placed(part, _sequence(made)) for part in parts if isinstance(part, Shard)]
    if len(placements) < len(parts):
        return UNKNOWN
    result = next((one for one in placements if not isinstance(one, Shard)), placements[0])
    return made_of(result, _with_weights)


def _with_weights(result: Value) -> Value:
    if not isinstance(result, Shard):
        return result
    return Items((result, replace(result, dim=0, rank=None, least=3)))


add(
    "CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid Mish "
    "RReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Threshold "
    "Dropout AlphaDropout FeatureAlphaDropout",
    same,
    "*arguments, **options",
)
add("PReLU", block("n", "npn*"), "*arguments, **options")
add("Linear NonDynamicallyQuantizableLinear", block("*np"), "*arguments, **options")
add("Embedding", wider, "*arguments, **options")
add("EmbeddingBag", block("nx"), "*arguments, **options")
add("Flatten", flattened, "start_dim=1, end_dim=-1")
add("Unflatten", unflattened, "dim, unflattened_size")
add("Softmax LogSoftmax Softmin", implicit, "dim=None")
add("Softmax2d", block("nxnn", "xnn"))
add("GLU", along_dim, "dim=-1")
add("LayerNorm RMSNorm", normalized, "normalized_shape, *arguments, **options")
add("GroupNorm", block("npx*"), "*arguments, **options")
add("LocalResponseNorm", block("nxx*"), "*arguments, **options")
add("CosineSimilarity", between, "dim=1, eps=1e-08", "x1, x2")
add("PairwiseDistance", between, "p=2.0, eps=1e-06, keepdim=False", "x1, x2")
for dimensions, space in ((1, "x"), (2, "xx"), (3, "xxx")):
    kind = f"{dimensions}d"
    apart = "n" * dimensions
    add(
        f"Conv{kind} ConvTranspose{kind}",
        block(f"np{space}", f"p{space}"),
        "*arguments, **options",
        "input, output_size=None",
    )
    add(
        f"AvgPool{kind} AdaptiveAvgPool{kind} LPPool{kind} "
        f"ZeroPad{kind} ConstantPad{kind} ReflectionPad{kind} ReplicationPad{kind} "
        f"CircularPad{kind} Dropout{kind} InstanceNorm{kind}",
        block(f"nn{space}", f"n{space}"),
        "*arguments, **options",
    )
    add(
        f"MaxPool{kind}",
        pooled(f"nn{space}", f"n{space}"),
        "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
    )
    add(
        f"AdaptiveMaxPool{kind}",
        pooled(f"nn{space}", f"n{space}"),
        "output_size, return_indices=False",
    )
    add(
        f"MaxUnpool{kind}",
        unpooled(f"nn{space}", f"n{space}"),
        "*arguments, **options",
        "input, indices, output_size=None",
    )
    add(
        f"BatchNorm{kind}",
        block(f"np{apart}", *(["np"] if dimensions == 1 else [])),
        "*arguments, **options",
    )
add(
    "Upsample UpsamplingNearest2d UpsamplingBilinear2d",
    block("nnx", "nnxx", "nnxxx"),
    "*arguments, **options",
)
add("PixelShuffle PixelUnshuffle", block("*nxxx"), "*arguments, **options")
add("ChannelShuffle", block("nxnn*"), "*arguments, **options")
add("Unfold", block("nxxx", "xxx", change=-1), "*arguments, **options")
add("Fold", block("nxx", "xx", change=1), "*arguments, **options")
RECURRENT = (
    "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, "
    "bidirectional=False, proj_size=0, **options"
)
add("GRU", recurrent(1), RECURRENT, "input, hx=None")
add(
    "RNN",
    recurrent(1),
    RECURRENT.replace("bias=True", "nonlinearity='tanh', bias=True"),
    "input, hx=None",
)
add("LSTM", recurrent(2), RECURRENT, "input, hx=None")
add("GRUCell RNNCell", cell(1), "*arguments, **options", "input, hx=None")
add("LSTMCell", cell(2), "*arguments, **options", "input, hx=None")
add(
    "MultiheadAttention",
    attention,
    "embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, "
    "kdim=None, vdim=None, batch_first=False, **options",
    "query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, "
    "average_attn_weights=True, is_causal=False",
)
TRANSFORMER = (
    "d_model, nhead, dim_feedforward=2048, dropout=0.1, activation='relu', layer_norm_eps=1e-05, "
    "batch_first=False, **options"
)
add("TransformerEncoderLayer", sequence, TRANSFORMER, "src, *masks, **options")
add("TransformerDecoderLayer", sequence, TRANSFORMER, "tgt, memory, *masks, **options")
add(
    "Transformer",
    sequence,
    "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, "
    "dropout=0.1, activation='relu', custom_encoder=None, custom_decoder=None, "
    "layer_norm_eps=1e-05, batch_first=False, **options",
    "src, tgt, *masks, **options",
)
STACKED = {
    "TransformerEncoder": "TransformerEncoderLayer",
    "TransformerDecoder": "TransformerDecoderLayer",
}
"""Layers that do as the one does that they are made of."""
