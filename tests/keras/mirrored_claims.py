"""Every claim of the runtime for TensorFlow's devices about a layer, tried on the layer itself.

Run in either environment by `test_layers_mirrored.py`, with the number of rows of a batch; prints
what is wrong or was not tried, as JSON. On three devices a layer has to make of a batch what it
makes of it on one, and of the gradients with respect to its input and weights, also where some
devices have no row.
"""

import json
import os

os.environ["TRAINERA_DEVICES"] = "3"

import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

from trainera import mirror_crew
from trainera.mirror_crew.layers import ADDING, MULTIPLYING, NORMALISING, ROW_BY_ROW
from trainera.mirror_crew.parts import PARTS, cut_up, join
from trainera.mirror_crew.state import computing_whole

mirror_crew.join_devices()
if keras.__version__.startswith("3."):
    from tests.keras import wide as wide
keras.backend.set_floatx("float64")
keras.utils.set_random_seed(4)
ROWS = (7, 1)
COMPILED = {"BatchNormalization", "Conv2D", "Dense", "Dropout", "Embedding", "LSTM"}
"""What is tried in a compiled function, where the number of rows is known when it runs."""


def some(*shape: int):
    return lambda rows: tf.constant(np.random.uniform(0.1, 1.0, (rows, *shape)), tf.float64)


def pair(*shape: int):
    return lambda rows: [some(*shape)(rows), some(*shape)(rows)]


def numbers(rows: int):
    return tf.constant(np.arange(2 * rows).reshape(rows, 2) % 9)


IMAGE, VOLUME, SERIES, STEPS = some(8, 8, 3), some(4, 4, 4, 2), some(8, 3), some(4, 3)
NARROW = lambda rows: tf.cast(VOLUME(rows), tf.float32)  # noqa: E731


def options(kind: str, size: int) -> dict[str, object]:
    pooled = {"pool_size": 2} if kind in ("AveragePooling", "MaxPooling") else {}
    return {**pooled, **({"dtype": "float32"} if "Pool" in kind and size == 3 else {})}


SAMPLES = {
    "Activation": (lambda: L.Activation("relu"), some(4)),
    **{
        name: (lambda name=name: getattr(L, name)(), pair(4))
        for name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract", "Concatenate")
    },
    "AdditiveAttention": (lambda: L.AdditiveAttention(), pair(4, 3)),
    "Attention": (lambda: L.Attention(), pair(4, 3)),
    "Dot": (lambda: L.Dot(axes=1), pair(4)),
    # TensorFlow 2.15 pools volumes in 32 bits only, on a CPU.
    **{
        f"{kind}{size}D": (
            lambda kind=kind, size=size: getattr(L, f"{kind}{size}D")(**options(kind, size)),
            given,
        )
        for kind in (
            *("AveragePooling", "MaxPooling", "GlobalAveragePooling", "GlobalMaxPooling"),
            *("UpSampling", "ZeroPadding", "Cropping"),
        )
        for size, given in ((1, SERIES), (2, IMAGE), (3, NARROW if "Pool" in kind else VOLUME))
    },
    **{
        name: (lambda name=name: getattr(L, name)(2, 3), given)
        for name, given in (
            *(("Conv1D", SERIES), ("Conv1DTranspose", SERIES), ("SeparableConv1D", SERIES)),
            *(("Conv2D", IMAGE), ("Conv2DTranspose", IMAGE), ("SeparableConv2D", IMAGE)),
            *(("Conv3D", VOLUME), ("Conv3DTranspose", VOLUME)),
        )
    },
    "DepthwiseConv1D": (lambda: L.DepthwiseConv1D(3), SERIES),
    "DepthwiseConv2D": (lambda: L.DepthwiseConv2D(3), IMAGE),
    "Dense": (lambda: L.Dense(3, activation="softmax"), some(4)),
    "EinsumDense": (lambda: L.EinsumDense("ab,bc->ac", 3), some(4)),
    **{
        name: (lambda name=name: getattr(L, name)(), some(4))
        for name in ("ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "UnitNormalization")
    },
    "RMSNormalization": (lambda: L.RMSNormalization(), some(4)),
    "Embedding": (lambda: L.Embedding(9, 3), numbers),
    "Flatten": (lambda: L.Flatten(), STEPS),
    "GroupNormalization": (lambda: L.GroupNormalization(2), some(4, 6)),
    "LayerNormalization": (lambda: L.LayerNormalization(), some(4, 6)),
    "MultiHeadAttention": (
        lambda: L.MultiHeadAttention(2, 3),
        lambda rows: tuple(pair(4, 6)(rows)),
    ),
    "GroupQueryAttention": (
        lambda: L.GroupQueryAttention(3, 4, 2),
        lambda rows: tuple(pair(4, 6)(rows)),
    ),
    "Permute": (lambda: L.Permute((2, 1)), STEPS),
    "RepeatVector": (lambda: L.RepeatVector(3), some(4)),
    "Rescaling": (lambda: L.Rescaling(2.0), IMAGE),
    "CenterCrop": (lambda: L.CenterCrop(5, 5), IMAGE),
    "Reshape": (lambda: L.Reshape((6, 2)), STEPS),
    "Bidirectional": (lambda: L.Bidirectional(L.LSTM(4)), STEPS),
    "TimeDistributed": (lambda: L.TimeDistributed(L.Dense(4)), STEPS),
    **{
        name: (lambda name=name: getattr(L, name)(4, return_sequences=True), STEPS)
        for name in ("GRU", "LSTM", "SimpleRNN")
    },
    **{
        name: (lambda name=name: getattr(L, name)(0.4, seed=3), given)
        for name, given in (
            *((one, STEPS) for one in ("Dropout", "GaussianDropout", "GaussianNoise")),
            *(
                ("SpatialDropout1D", STEPS),
                ("SpatialDropout2D", IMAGE),
                ("SpatialDropout3D", VOLUME),
            ),
        )
    },
    "BatchNormalization": (lambda: L.BatchNormalization(), IMAGE),
    "Dropout of a shape": (lambda: L.Dropout(0.4, noise_shape=(1, 4), seed=2), some(4)),
}
WHOLE = {
    "Concatenate along the batch": (lambda: L.Concatenate(axis=0), pair(4)),
    "Softmax along the batch": (lambda: L.Softmax(axis=0), some(4)),
    "own activation": (lambda: L.Dense(3, activation=lambda x: x - tf.reduce_mean(x, 0)), some(4)),
    "an activation of TensorFlow's along the batch": (
        lambda: L.Dense(3, activation=tf.cumsum),
        some(4),
    ),
    "own layer": (lambda: type("Dense", (L.Dense,), {})(4), some(4)),
    "own layer within": (lambda: L.TimeDistributed(type("Dense", (L.Dense,), {})(4)), STEPS),
    "drops within": (lambda: L.LSTM(4, dropout=0.3, seed=2), STEPS),
    "normalisation of another axis": (lambda: L.BatchNormalization(axis=1), IMAGE),
    "alpha dropout": (lambda: L.AlphaDropout(0.4, seed=2), some(4)),
    "another normalisation": (lambda: L.LayerNormalization(axis=[0, 1]), some(4)),
}


def outcome(make, given: object, compiled: bool) -> tuple[bool, list[np.ndarray]]:
    """Whether a layer's output came in parts, and all that is computed of it."""
    keras.utils.set_random_seed(5)
    layer = make()
    args = given if isinstance(given, tuple) else (given,)
    with computing_whole():
        layer(*args)  # makes its weights
    keras.utils.set_random_seed(6)
    options = {"training": True} if takes_training(layer) else {}
    shared = []

    def compute(given: object) -> list[object]:
        with tf.GradientTape() as tape:
            moving = [one for one in tf.nest.flatten(given) if one.dtype.is_floating]
            tape.watch(moving)
            # As if they came from another layer.
            inputs = tf.nest.map_structure(lambda one: join(*cut_up(one)), given)
            out = layer(*(inputs if isinstance(inputs, tuple) else (inputs,)), **options)
            shared.append(hasattr(out, PARTS))
            loss = tf.reduce_sum(tf.cast(out, tf.float64) ** 3)
        sources = [*moving, *layer.trainable_variables]
        pulls = tape.gradient(loss, [getattr(one, "_value", one) for one in sources])
        return [out, *(tf.convert_to_tensor(one) for one in pulls if one is not None)]

    call = compute
    if compiled:  # as fit() does it: the number of rows is known when it runs
        spec = tf.nest.map_structure(
            lambda one: tf.TensorSpec([None, *one.shape[1:]], one.dtype), given
        )
        call = tf.function(compute, input_signature=[spec])
    found = [one.numpy() for one in call(given)]
    return shared[-1], [*found, *(np.array(one) for one in layer.weights)]


def takes_training(layer: object) -> bool:
    known = getattr(layer, "_expects_training_arg", None)
    return layer._call_has_training_arg if known is None else known


def near(one: np.ndarray) -> float:
    return 1e-9 if one.dtype == np.float64 else 1e-5


def wrong(name: str, make, give, expected: bool) -> "str | None":
    for rows in ROWS:
        given, compiled = give(rows), name in COMPILED
        shared, found = outcome(make, given, compiled)
        with computing_whole():
            _, wanted = outcome(make, given, compiled=False)
        if shared is not expected:
            return f"{name}: {'computed' if expected else 'not computed'} as a whole"
        for one, other in zip(wanted, found, strict=True):
            if one.shape != other.shape or not np.allclose(
                one, other, rtol=near(one), atol=near(one) / 100
            ):
                return f"{name}: another outcome with {rows} rows (compiled: {compiled})"
    return None


known = {name for name in ROW_BY_ROW | NORMALISING | MULTIPLYING | ADDING if hasattr(L, name)}
problems = [f"{name}: not tried" for name in sorted(known - set(SAMPLES))]
tried = 0
for samples, expected in ((SAMPLES, True), (WHOLE, False)):
    for name, (make, give) in samples.items():
        if expected and name.split()[0] not in known:
            continue
        tried += 1
        try:
            problem = wrong(name, make, give, expected or name.startswith("norm"))
        except Exception as error:
            problem = f"{name}: {type(error).__name__}: {str(error)[-400:]}"
        if problem:
            problems.append(problem)
print(json.dumps({"tried": tried, "problems": problems}), flush=True)
