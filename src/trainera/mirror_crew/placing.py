"""Gradients are computed on the devices of their operations, and not all on the first one."""

from typing import Any

import tensorflow as tf


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
        return plain_of_graph(ys, xs, *args, **kwargs)

    backprop._gradient_function = gradient
    pywrap_tfe.TFE_Py_RegisterGradientFunction(gradient)
    gradients_util._GradientsHelper = of_graph


def device_of(*tensors: Any) -> "str | None":
    """The device of the first of these tensors that has one; None leaves it open."""
    for tensor in tensors:
        name = getattr(tensor, "device", "") if isinstance(tensor, tf.Tensor) else ""
        if name:
            return str(name)
    return None
