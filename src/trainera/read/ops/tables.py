"""What is known of the operations on tensors, by name. Knowledge only."""

# Element by element: a row of the result depends on that row of the arguments only.
ELEMENTWISE = frozenset(
    (
        "abs absolute add addcmul asin acos atan bernoulli bfloat16 bitwise_and bitwise_or bool "
        "byte ceil celu clamp clamp_ clip clone contiguous cos cosh cpu cuda data deg2rad detach "
        "detach_ div div_ double dropout elu eq equal_ erf exp expm1 fill_ float floor "
        "floor_divide fmod frac ge gelu gt half hardtanh heaviside int isclose isfinite isinf "
        "isnan le leaky_relu lerp log log10 log1p log2 logical_and logical_not logical_or logit "
        "logsigmoid long lt masked_fill masked_fill_ maximum minimum mish mul mul_ nan_to_num ne "
        "neg negative not_equal numpy one_hot ones_like pin_memory pow rand_like randn_like "
        "normal_ uniform_ bernoulli_ random_ "
        "reciprocal relu relu_ remainder requires_grad_ round rsqrt selu short sigmoid sign silu "
        "sin sinh softplus sqrt square sub sub_ tan tanh tanhshrink threshold to tolist "
        "true_divide trunc type type_as where xlogy zeros_like astype copy asarray array "
        "as_tensor tensor from_numpy full_like empty_like int32 int64 float32 float64 uint8 "
        "multiply divide subtract greater less not_ softsign relu6 hardswish retain_grad zero_ "
        "add_ bucketize clamp_min clamp_max embedding rot90_"
    ).split()
)
# Along a dimension: (gives a pair?, keeps the number of dimensions?, position of `dim`, default)
ALONG: dict[str, tuple[bool, bool, int, int | None]] = {
    "sum": (False, False, 0, None),
    "mean": (False, False, 0, None),
    "nansum": (False, False, 0, None),
    "max": (True, False, 0, None),
    "min": (True, False, 0, None),
    "argmax": (False, False, 0, None),
    "argmin": (False, False, 0, None),
    "amax": (False, False, 0, None),
    "amin": (False, False, 0, None),
    "prod": (False, False, 0, None),
    "std": (False, False, 0, None),
    "var": (False, False, 0, None),
    "all": (False, False, 0, None),
    "any": (False, False, 0, None),
    "count_nonzero": (False, False, 0, None),
    "norm": (False, False, 1, None),
    "logsumexp": (False, False, 0, None),
    "median": (True, False, 0, None),
    "mode": (True, False, 0, -1),
    "softmax": (False, True, 0, None),
    "log_softmax": (False, True, 0, None),
    "gumbel_softmax": (False, True, 3, -1),
    "cumsum": (False, True, 0, None),
    "normalize": (False, True, 1, 1),
    "sort": (True, True, 0, -1),
    "argsort": (False, True, 0, -1),
    "topk": (True, True, 1, -1),
    "cosine_similarity": (False, False, 1, 1),
    "flip": (False, True, 0, None),
    "roll": (False, True, 1, None),
}
# Methods under which a sum or a mean stays what it is.
LINEAR = frozenset(
    (
        "item detach cpu cuda to float double half clone numpy mean sum tolist squeeze reshape "
        "view contiguous requires_grad_ type long int unsqueeze retain_grad data astype tensor "
        "as_tensor"
    ).split()
)
# What these give has no gradient.
ENDS_GRADIENT = {
    *("detach", "item", "numpy", "tolist", "data", "argmax", "argmin", "bool", "long", "int"),
    *("eq", "ne", "gt", "lt", "ge", "le", "isnan", "isinf", "isfinite", "logical_not"),
    *("logical_and", "logical_or", "size", "numel", "any", "all", "count_nonzero"),
}
COUNTING = {"numel", "nelement"}
MASKS = {*"eq ne gt ge lt le isnan isinf isfinite isin isclose bool".split()}
MASKS |= {"logical_and", "logical_or", "logical_not", "logical_xor"}
STILL_MASKS = {
    *"view reshape squeeze unsqueeze flatten transpose permute t expand clone cpu".split()
}
STILL_MASKS |= {"expand_as", "contiguous", "cuda", "detach", "numpy", "bitwise_not", "chunk"}
ROW_BY_ROW = {"flip", "roll", "where"}
"""Besides what treats entries one by one: the result has as many rows."""
NOT_A_SHARE = {"device", "dtype", "is_cuda", "ndim", "requires_grad", "grad_fn", "dim", "layout"}
NOT_A_SHARE |= {"is_leaf", "is_mps", "is_quantized", "is_sparse", "is_xpu", "itemsize"}

MOVES = {"to", "cuda", "cpu", "double", "float", "half", "bfloat16", "xpu", "type"}


def keeps_rows(name: str) -> bool:
    """Whether a function of torch's gives as many rows as it is given."""
    return name in ELEMENTWISE or name in ROW_BY_ROW or name in MOVES
