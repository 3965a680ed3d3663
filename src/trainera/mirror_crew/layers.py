"""What is known of the layers of both lines of Keras: which treat a batch's rows one by one."""

import types
from typing import Any

ROW_BY_ROW = frozenset(
    """
    Activation Add AdditiveAttention Attention Average AveragePooling1D AveragePooling2D
    AveragePooling3D CenterCrop Concatenate Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D
    Conv3DTranspose Cropping1D Cropping2D Cropping3D Dense DepthwiseConv1D DepthwiseConv2D Dot ELU
    EinsumDense Embedding Flatten GRU GlobalAveragePooling1D GlobalAveragePooling2D
    GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D
    GroupNormalization GroupQueryAttention LSTM LayerNormalization LeakyReLU MaxPooling1D
    MaxPooling2D MaxPooling3D Maximum Minimum MultiHeadAttention Multiply PReLU Permute ReLU
    RMSNormalization RepeatVector Rescaling Reshape SeparableConv1D SeparableConv2D SimpleRNN
    Softmax Subtract TimeDistributed UnitNormalization UpSampling1D UpSampling2D UpSampling3D
    ZeroPadding1D ZeroPadding2D ZeroPadding3D Bidirectional
    """.split()
)
"""Given some of the rows, they make of each what they make of it in the whole batch."""

CELLS = frozenset({"GRUCell", "LSTMCell", "SimpleRNNCell"})
"""The same, for layers that others have."""

MULTIPLYING = frozenset(
    "Dropout GaussianDropout SpatialDropout1D SpatialDropout2D SpatialDropout3D".split()
)
"""They multiply what they are given by random numbers (`drawing.py`)."""

ADDING = frozenset({"GaussianNoise"})
"""They add random numbers to it."""

NORMALISING = frozenset({"BatchNormalization"})
"""Their statistics are the whole batch's (`normalising.py`)."""

FUNCTION_NAMES = ("activation", "recurrent_activation")
TENSORFLOWS = frozenset(
    """
    crelu elu gelu leaky_relu relu relu6 selu sigmoid silu softmax softmax_v2 softplus softsign
    swish tanh
    """.split()
)
"""Functions of TensorFlow's that stand for activations."""
AXES = ("axis", "axes")
FACTORS = ("scale", "offset")
"""What might be one for each row."""
CHANCE = ("dropout", "recurrent_dropout", "_dropout")
"""Where layers that do much besides keep how often they drop a figure."""


def treats_rows_alone(layer: Any, rank: "int | None") -> bool:
    """Whether a layer as it is set makes of each row what it makes of it alone.

    `rank` is that of its input. Layers within it count as well.
    """
    inner = list(layer._flatten_layers())
    return all(
        (type(one).__name__ in ROW_BY_ROW or type(one).__name__ in CELLS)
        and type(one).__module__.startswith("keras.src.")
        and keeps_to_itself(one, layer)
        and not works_along_rows(one, rank if one is layer else None)
        for one in inner
    )


def keeps_to_itself(layer: Any, outer: Any) -> bool:
    """Whether a layer draws nothing, keeps nothing, and calls no function of the script's own."""
    drops = any(getattr(layer, name, 0) for name in CHANCE)
    keeps = getattr(layer, "stateful", False) or getattr(layer, "time_major", False)
    tells = layer is not outer and (
        getattr(layer, "activity_regularizer", None)
        or getattr(layer, "_activity_regularizer", None)
    )
    wide = any(hasattr(getattr(layer, name, None), "__len__") for name in FACTORS)
    functions = (vars(layer).get(name) for name in FUNCTION_NAMES)
    return not (drops or keeps or tells or wide) and all(map(is_known_function, functions))


def is_known_function(function: Any) -> bool:
    """Whether an activation is Keras's, or one of TensorFlow's that is known."""
    if function is None or hasattr(function, "_flatten_layers"):  # a layer is asked by itself
        return True
    home, name = (str(getattr(function, one, "")) for one in ("__module__", "__name__"))
    if not isinstance(function, types.FunctionType):
        return False
    return home.startswith("keras.src.activations") or (
        home.startswith("tensorflow.") and name in TENSORFLOWS
    )


def works_along_rows(layer: Any, rank: "int | None") -> bool:
    """Whether a layer was told to work along the first dimension, or may have been."""
    equation = getattr(layer, "equation", None)
    if equation is not None:
        given, made = equation.replace(" ", "").split("->")
        weight = given.partition(",")[2]
        return given[:1] != made[:1] or given[:1] in weight.replace(".", "")
    for name in AXES:
        axes = getattr(layer, name, None)
        for axis in (axes,) if isinstance(axes, int) else axes or ():
            if not isinstance(axis, int) or axis == 0:
                return True
            if axis < 0 and rank is not None and axis == -rank:
                return True
    return False
