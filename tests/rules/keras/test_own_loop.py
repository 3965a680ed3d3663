"""Batches that a loop hands to compiled functions are spread there."""

import pytest

from tests.rules.keras.tools import HEAD, IMPORT, JOIN, planned, refusal

STEP = "import jax\n\n@jax.jit\ndef step(state, x, y):\n    return state\n\n"


def changed(loop: str, step: str = STEP) -> list[str]:
    """The lines of a loop that change, as they are afterwards."""
    _, lines = planned(HEAD + step + "grads = jax.grad(f)\nstate = 0\n" + loop)
    new = [line[2:].strip() for line in lines if line[0] == "+"]
    return [line for line in new if line not in (IMPORT, JOIN)]


@pytest.mark.parametrize(
    ("loop", "after"),
    [
        ("for x, y in batches:\n    state = step(state, x, y)",
         "state = step(state, crew.spread(x), crew.spread(y))"),
        ("for i, (x, y) in enumerate(batches):\n    state = step(state, x, y=y)",
         "state = step(state, crew.spread(x), y=crew.spread(y))"),
        ("for i in range(9):\n    state = step(state, a[i : i + 9], b[i : i + 9])",
         "state = step(state, crew.spread(a[i : i + 9]), crew.spread(b[i : i + 9]))"),
        ("while True:\n    x, y = next(batches)\n    state = step(state, (x, y), 1)",
         "state = step(state, crew.spread((x, y)), 1)"),
        ("for batch in batches:\n    x, y = batch\n    state = step(state, x, y)",
         "state = step(state, crew.spread(x), crew.spread(y))"),
        ("for batch in batches:\n    x = jnp.asarray(batch['x']).astype('float32')\n"
         "    state = step(state, x, batch['y'].numpy())",
         "state = step(state, crew.spread(x), crew.spread(batch['y'].numpy()))"),
        ("for i in range(9):\n    rows = order[i : i + 9]\n    x = a[rows]\n    noise = draw(x)\n"
         "    state = step(state, x, noise)",
         "state = step(state, crew.spread(x), noise)"),
    ],
)  # fmt: skip
def test_what_a_loop_goes_through(loop: str, after: str) -> None:
    assert changed(f"{loop}\n") == [after]


@pytest.mark.parametrize(
    "step",
    [
        STEP.replace("@jax.jit", "@partial(jax.jit, donate_argnums=0)"),
        STEP.replace("import jax", "import jax\nfrom jax import jit").replace("@jax.jit", "@jit"),
        "import jax\n\nstep = jax.jit(f)\n",
        "import jax\n\nstep = jax.value_and_grad(f, has_aux=True)\n",
    ],
)
def test_functions_that_jax_transforms(step: str) -> None:
    loop = "for x in batches:\n    state = step(state, x)\n"
    assert changed(loop, step) == ["state = step(state, crew.spread(x))"]


def test_other_calls_stay() -> None:
    loop = "for x, y in batches:\n    state = step(state, x, y)\n    print(x, other(x))\n"
    assert changed(loop) == ["state = step(state, crew.spread(x), crew.spread(y))"]


def test_what_comes_out_of_a_step_is_no_batch() -> None:
    loop = "for x in batches:\n    loss, state = step(state, x)\n    step(state, loss)\n"
    assert changed(loop) == ["loss, state = step(state, crew.spread(x))"]


def test_a_script_without_a_compiled_step() -> None:
    found = refusal(HEAD + "import jax\n\nfor x in batches:\n    jax.grad(f)(x)\n")
    assert found.what == "no step is found that Keras or JAX compiles"
    assert "jax.jit" in found.do


def test_a_tape_is_refused_for_being_one() -> None:
    source = HEAD + "import tensorflow as tf\n\nwith tf.GradientTape() as tape:\n    f(x)\n"
    assert refusal(source).rule == "backend"
