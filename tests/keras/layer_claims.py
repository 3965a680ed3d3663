"""Every claim of the runtime about a layer of tf.keras 2, tried on the layer itself.

Run in the environment of tf.keras 2 by `test_layers_keras2.py`; prints what is wrong or was not
tried, as JSON.
"""

import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers as L

from trainera.tf_crew.layers import CARRYING, DRAWING, NORMALISING, ROW_BY_ROW, works_by_rows

ROWS = 7
PARTS = ([0, 1, 2], [3, 4, 5, 6], [6])

tf.keras.utils.set_random_seed(4)


def some(*shape: int) -> tf.Tensor:
    return tf.constant(np.random.uniform(0.1, 1.0, (ROWS, *shape)), tf.float32)


def pair(*shape: int) -> list[tf.Tensor]:
    return [some(*shape), some(*shape)]


def texts() -> tf.Tensor:
    return tf.constant([["a b"], ["b"], ["c a"], ["a"], ["b b"], ["c"], ["a c"]])


def adapted(layer: L.Layer, data: tf.Tensor) -> L.Layer:
    layer.adapt(data)
    return layer


def steps() -> tf.Tensor:
    return some(4, 3)


IMAGE, VOLUME, SERIES = (lambda: some(8, 8, 3)), (lambda: some(4, 4, 4, 2)), (lambda: some(8, 3))
CELL_STATE = lambda count: [some(4) for _ in range(count)]  # noqa: E731

SAMPLES = {
    "Activation": (lambda: L.Activation("relu"), lambda: some(4)),
    "ActivityRegularization": (lambda: L.ActivityRegularization(0.1), lambda: some(4)),
    **{
        name: (getattr(L, name), lambda: pair(4))
        for name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract", "Concatenate")
    },
    "AdditiveAttention": (L.AdditiveAttention, lambda: pair(4, 3)),
    "Attention": (L.Attention, lambda: pair(4, 3)),
    "Dot": (lambda: L.Dot(axes=1), lambda: pair(4)),
    **{
        f"{kind}{size}D": (getattr(L, f"{kind}{size}D"), given)
        for kind in ("AveragePooling", "MaxPooling", "GlobalAveragePooling", "GlobalMaxPooling")
        for size, given in ((1, SERIES), (2, IMAGE), (3, VOLUME))
    },
    **{
        f"{kind}{size}D": (getattr(L, f"{kind}{size}D"), given)
        for kind in ("UpSampling", "ZeroPadding", "Cropping")
        for size, given in ((1, SERIES), (2, IMAGE), (3, VOLUME))
    },
    **{
        name: (lambda name=name: getattr(L, name)(2, 3), given)  # type: ignore[misc]
        for name, given in (
            *(("Conv1D", SERIES), ("Conv1DTranspose", SERIES), ("SeparableConv1D", SERIES)),
            *(("Conv2D", IMAGE), ("Conv2DTranspose", IMAGE), ("SeparableConv2D", IMAGE)),
            *(("Conv3D", VOLUME), ("Conv3DTranspose", VOLUME)),
            *(("LocallyConnected1D", SERIES), ("LocallyConnected2D", IMAGE)),
        )
    },
    "DepthwiseConv1D": (lambda: L.DepthwiseConv1D(3), SERIES),
    "DepthwiseConv2D": (lambda: L.DepthwiseConv2D(3), IMAGE),
    "Dense": (lambda: L.Dense(3), lambda: some(4)),
    "EinsumDense": (lambda: L.EinsumDense("ab,bc->ac", 3), lambda: some(4)),
    **{
        name: (getattr(L, name), lambda: some(4))
        for name in ("ELU", "LeakyReLU", "PReLU", "ReLU", "ThresholdedReLU", "Softmax", "Identity")
    },
    "Embedding": (lambda: L.Embedding(9, 3), lambda: tf.constant(np.arange(14).reshape(7, 2) % 9)),
    "Flatten": (L.Flatten, steps),
    "GRUCell": (lambda: L.GRUCell(4), lambda: (some(3), *CELL_STATE(1))),
    "LSTMCell": (lambda: L.LSTMCell(4), lambda: (some(3), CELL_STATE(2))),
    "SimpleRNNCell": (lambda: L.SimpleRNNCell(4), lambda: (some(3), *CELL_STATE(1))),
    "StackedRNNCells": (
        lambda: L.StackedRNNCells([L.SimpleRNNCell(4), L.SimpleRNNCell(4)]),
        lambda: (some(3), CELL_STATE(2)),
    ),
    "GroupNormalization": (lambda: L.GroupNormalization(2), lambda: some(4, 6)),
    "InputLayer": (lambda: L.InputLayer((4,)), lambda: some(4)),
    "IntegerLookup": (
        lambda: L.IntegerLookup(vocabulary=[3, 5, 7]),
        lambda: tf.constant([[3], [5], [7], [9], [3], [5], [5]]),
    ),
    "StringLookup": (lambda: L.StringLookup(vocabulary=["a", "b", "c"]), texts),
    "TextVectorization": (
        lambda: adapted(L.TextVectorization(output_sequence_length=3), texts()),
        texts,
    ),
    "LayerNormalization": (L.LayerNormalization, lambda: some(4, 6)),
    "Masking": (L.Masking, steps),
    "MultiHeadAttention": (lambda: L.MultiHeadAttention(2, 3), lambda: tuple(pair(4, 6))),
    "Normalization": (lambda: adapted(L.Normalization(), some(4)), lambda: some(4)),
    "Permute": (lambda: L.Permute((2, 1)), steps),
    "RepeatVector": (lambda: L.RepeatVector(3), lambda: some(4)),
    "Rescaling": (lambda: L.Rescaling(2.0), IMAGE),
    "Resizing": (lambda: L.Resizing(5, 6), IMAGE),
    "CenterCrop": (lambda: L.CenterCrop(5, 5), IMAGE),
    "Reshape": (lambda: L.Reshape((6, 2)), steps),
    "Bidirectional": (lambda: L.Bidirectional(L.LSTM(4)), steps),
    "TimeDistributed": (lambda: L.TimeDistributed(L.Dense(4)), steps),
    "RNN": (lambda: L.RNN(L.LSTMCell(4)), steps),
    **{
        name: (lambda name=name: getattr(L, name)(4), steps)  # type: ignore[misc]
        for name in ("GRU", "LSTM", "SimpleRNN")
    },
    "ConvLSTM1D": (lambda: L.ConvLSTM1D(2, 3), lambda: some(3, 8, 2)),
    "ConvLSTM2D": (lambda: L.ConvLSTM2D(2, 3), lambda: some(3, 6, 6, 2)),
    "ConvLSTM3D": (lambda: L.ConvLSTM3D(2, 3), lambda: some(2, 4, 4, 4, 2)),
    # Without what is drawn and what is taken of the batch, which the runtime sees to.
    **{
        name: (lambda name=name: getattr(L, name)(0.4), given)  # type: ignore[misc]
        for name, given in (
            *((one, steps) for one in ("AlphaDropout", "Dropout", "GaussianDropout")),
            *(("GaussianNoise", steps), ("SpatialDropout1D", steps)),
            *(("SpatialDropout2D", IMAGE), ("SpatialDropout3D", VOLUME)),
        )
    },
    "BatchNormalization": (L.BatchNormalization, IMAGE),
}
MIXING = {
    "Concatenate along the batch": lambda: (L.Concatenate(axis=0), 2),
    "Concatenate along the batch, from the end": lambda: (L.Concatenate(axis=-2), 2),
    "Softmax along the batch": lambda: (L.Softmax(axis=0), 2),
    "own activation": lambda: (L.Dense(3, activation=lambda x: x - tf.reduce_mean(x, 0)), 2),
    "EinsumDense without rows": lambda: (L.EinsumDense("ab,bc->ca", (3, ROWS)), 2),
    "stateful": lambda: (L.LSTM(4, stateful=True, batch_input_shape=(ROWS, 4, 3)), 3),
    "drawn shape": lambda: (L.Dropout(0.4, noise_shape=(1, 4)), 2),
    "counts of the batch": lambda: (L.StringLookup(output_mode="count"), 2),
    "RandomFlip": lambda: (L.RandomFlip(), 4),
    "own layer": lambda: (type("Dense", (L.Dense,), {})(4), 2),
}


def rows(given: object, chosen: list[int]) -> object:
    return tf.nest.map_structure(lambda leaf: tf.gather(leaf, chosen), given)


def wrong(name: str) -> str | None:
    make, give = SAMPLES[name]
    layer, given = make(), give()

    def call(batch: object) -> list[np.ndarray]:
        args = batch if isinstance(batch, tuple) else (batch,)
        return [leaf.numpy() for leaf in tf.nest.flatten(layer(*args))]

    whole = call(given)
    if not works_by_rows(layer, tf.nest.flatten(given)[0].shape.rank):
        return f"{name}: not taken as row by row"
    for part in PARTS:
        for one, other in zip(whole, call(rows(given, part)), strict=True):
            if one[part].shape != other.shape or not np.allclose(one[part], other, atol=1e-5):
                return f"{name}: rows {part} come out differently"
    return None


known = (ROW_BY_ROW | DRAWING | NORMALISING | CARRYING) - {"Wrapper", "SyncBatchNormalization"}
problems = [f"{name}: not tried" for name in sorted(known - set(SAMPLES))]
problems += [f"{name}: tried, but not known" for name in sorted(set(SAMPLES) - known)]
problems += filter(None, map(wrong, sorted(set(SAMPLES) & known)))
for what, make in MIXING.items():
    layer, rank = make()
    if works_by_rows(layer, rank):
        problems.append(f"{what}: taken as row by row")
json.dump({"tried": len(SAMPLES), "problems": problems}, sys.stdout)
