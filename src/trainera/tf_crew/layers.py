"""What is known of Keras's own layers: which of them treat the rows of a batch one by one."""

import functools
import types
from typing import Any

KERAS_HOME = "keras.src."
LIBRARIES = ("keras.", "tensorflow.")
FUNCTION_NAMES = ("activation", "recurrent_activation", "_standardize", "_split", "merge_mode")
AXES = ("axis", "axes")

ROW_BY_ROW = frozenset(
    """
    Activation ActivityRegularization Add AdditiveAttention Attention Average AveragePooling1D
    AveragePooling2D AveragePooling3D Concatenate Conv1D Conv1DTranspose Conv2D Conv2DTranspose
    Conv3D Conv3DTranspose Cropping1D Cropping2D Cropping3D Dense DepthwiseConv1D DepthwiseConv2D
    Dot ELU EinsumDense Embedding Flatten GRUCell GlobalAveragePooling1D GlobalAveragePooling2D
    GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D
    GroupNormalization Identity InputLayer IntegerLookup LSTMCell LayerNormalization LeakyReLU
    LocallyConnected1D LocallyConnected2D Masking MaxPooling1D MaxPooling2D MaxPooling3D Maximum
    Minimum MultiHeadAttention Multiply Normalization PReLU Permute ReLU RepeatVector Rescaling
    Reshape Resizing SeparableConv1D SeparableConv2D SimpleRNNCell Softmax StackedRNNCells
    StringLookup Subtract TextVectorization ThresholdedReLU UpSampling1D UpSampling2D UpSampling3D
    ZeroPadding1D ZeroPadding2D ZeroPadding3D CenterCrop
    """.split()
)
"""Given some of the rows, they make of each what they make of it in the whole batch."""

WITHIN = frozenset({"ConvLSTMCell"})
"""The same, for layers that only others have."""

DRAWING = frozenset(
    """
    AlphaDropout Dropout GaussianDropout GaussianNoise SpatialDropout1D SpatialDropout2D
    SpatialDropout3D
    """.split()
)
"""The same, but for random numbers, which are drawn for the whole batch (`drawing.py`)."""

NORMALISING = frozenset({"BatchNormalization", "SyncBatchNormalization"})
"""Their statistics are the whole batch's (`normalising.py`)."""

CARRYING = frozenset(
    """
    Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D GRU LSTM RNN SimpleRNN TimeDistributed Wrapper
    """.split()
)
"""They call other layers, and are as those are; some keep a state from batch to batch."""

FUNCTIONS = frozenset(
    "ClassMethod InstanceMethod InstanceProperty Lambda SlicingOpLambda TFOpLambda".split()
)
"""Functions that stand in a network as layers: what they do has to be tried."""


def is_kerass_own(layer: Any) -> bool:
    return type(layer).__module__.startswith(KERAS_HOME)


def hands_on(layer: Any) -> bool:
    """Whether a model only hands on from layer to layer, by Keras's own code."""
    call = type(layer).call
    return call.__module__.startswith(KERAS_HOME) and call.__qualname__ in (
        "Functional.call",
        "Sequential.call",
    )


def works_by_rows(layer: Any, rank: "int | None" = None) -> bool:
    """Whether it is known that a layer treats rows one by one, once chance and statistics are met.

    A layer that a script derives from one of Keras's is not known, whatever its name; nor is one
    that was given a function of the script's own, or works along the batch. `rank` is that of its
    input, where it is known.
    """
    name = type(layer).__name__
    if not is_kerass_own(layer) or has_own_function(layer) or works_along_rows(layer, rank):
        return False
    if name in NORMALISING:
        return not (layer.renorm or layer.virtual_batch_size or layer.adjustment)
    if name in ("TextVectorization", "StringLookup", "IntegerLookup"):
        # Texts that are not cut to a length are filled up to that of the longest.
        open_length = name == "TextVectorization" and not layer._output_sequence_length
        return layer_output_mode(layer) == "int" and not open_length
    if name in DRAWING:  # not if the script says what shape is drawn, but for "as the input"
        shape = getattr(layer, "noise_shape", None)
        return shape is None or shape[0] is None
    if name in ROW_BY_ROW or name in WITHIN:
        return True
    if name in CARRYING and not keeps_state_or_turns(layer):
        inner = list(layer._flatten_layers(include_self=False))
        return all(works_by_rows(one) or hands_on(one) for one in inner)
    return False


def keeps_state_or_turns(layer: Any) -> bool:
    """Whether a recurrent layer keeps a state for the next batch, or has its steps first."""
    return bool(getattr(layer, "stateful", False) or getattr(layer, "time_major", False))


def has_own_function(layer: Any) -> bool:
    """Whether a layer calls a function that is not Keras's or TensorFlow's: an activation, say."""
    return any(
        isinstance(value, types.FunctionType | functools.partial)
        and not str(getattr(value, "__module__", "")).startswith(LIBRARIES)
        for name, value in vars(layer).items()
        if name in FUNCTION_NAMES
    )


def works_along_rows(layer: Any, rank: "int | None") -> bool:
    """Whether a layer was told to work along the first dimension, or may have been."""
    equation = getattr(layer, "equation", None)
    if equation is not None:
        given, made = equation.replace(" ", "").split("->")
        return bool(given[:1] != made[:1])
    for name in AXES:
        axes = getattr(layer, name, None)
        for axis in (axes,) if isinstance(axes, int) else axes or ():
            if not isinstance(axis, int) or axis == 0 or (axis < 0 and rank in (None, -axis)):
                return rank is not None or axis == 0
    return False


def layer_output_mode(layer: Any) -> str:
    """How a vocabulary answers: by numbers, row by row, or by counts of all that it is given."""
    return str(getattr(layer, "_output_mode", None) or getattr(layer, "output_mode", ""))


def may_be_tried(layer: Any) -> bool:
    """Whether what is not known of a layer can be found out by a trial.

    Not where Keras's own layers are known to need the whole batch: those that draw what no trial
    could tell from their input, or keep a state.
    """
    return all(
        not is_kerass_own(one)
        or type(one).__name__ in FUNCTIONS
        or works_by_rows(one)
        or hands_on(one)
        or (type(one).__name__ in CARRYING and not keeps_state_or_turns(one))
        for one in layer._flatten_layers()
    )
