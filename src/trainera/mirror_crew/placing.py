"""Gradients are computed on the devices of their operations, and not all on the first one."""

from typing import Any

import tensorflow as tf

from trainera.mirror_crew.parts import Cuts, dense, join, parts_of


def connect_gradients() -> None:
    """Has gradients follow the devices of what they are gradients of."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import backprop
    from tensorflow.python.ops import gradients_util

    plain, plain_of_graph = backprop._gradient_function, gradients_util._GradientsHelper

    def gradient(
        op_name: Any, attributes: Any, count: Any, inputs: Any, outputs: Any, pulls: Any, *rest: Any
    ) -> Any:
        with tf.device(device_of(*(outputs or ()), *pulls, *(inputs or ()))):
            return plain(op_name, attributes, count, inputs, outputs, pulls, *rest)

    def of_graph(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) < 3:
            kwargs["colocate_gradients_with_ops"] = True
        whole = list(xs) if isinstance(xs, list | tuple) else [xs]
        known = [parts_of(one) for one in whole]
        if not any(known):
            return plain_of_graph(ys, xs, *args, **kwargs)
        # What is computed of a tensor in parts is computed of the parts.
        sources = [one[0] if one else [given] for one, given in zip(known, whole, strict=True)]
        flat = [source for some in sources for source in some]
        pulls = iter(plain_of_graph(ys, flat, *args, **kwargs))
        found = [[next(pulls) for _ in some] for some in sources]
        return [
            of_parts(one, pulled) if one else pulled[0]
            for one, pulled in zip(known, found, strict=True)
        ]

    backprop._gradient_function = gradient
    pywrap_tfe.TFE_Py_RegisterGradientFunction(gradient)
    gradients_util._GradientsHelper = of_graph


def of_parts(known: "tuple[list[Any], Cuts]", pulls: "list[Any]") -> Any:
    """The gradient of a tensor, made of those of its parts."""
    if all(pull is None for pull in pulls):
        return None
    pairs = zip(pulls, known[0], strict=True)
    return join(
        [tf.zeros_like(part) if pull is None else dense(pull) for pull, part in pairs], known[1]
    )


def device_of(*tensors: Any) -> "str | None":
    """The device of the first of these tensors that has one; None leaves it open."""
    for tensor in tensors:
        name = getattr(tensor, "device", "") if isinstance(tensor, tf.Tensor) else ""
        if name:
            return str(name)
    return None
