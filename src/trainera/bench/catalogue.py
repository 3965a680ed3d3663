"""The workloads that come with trainera: plain sequential scripts, and what is known about them."""

from dataclasses import dataclass
from pathlib import Path

from trainera.bench.design import Subject
from trainera.bench.platforms import Platform
from trainera.errors import UserError

SIZES = ("tiny", "small", "full")
FOLDER = Path(__file__).parents[1] / "workloads"

_ACCURACY = r"accuracy ([0-9.]+)"
_PERPLEXITY = r"perplexity ([0-9.]+)"
_TORCH = Platform(framework="torch")
_JAX = Platform(framework="keras", backend="jax")
_TENSORFLOW = Platform(framework="keras", backend="tensorflow")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A script of the folder ``workloads``."""

    name: str
    title: str
    metric: str = _ACCURACY
    platform: Platform = _TORCH
    task: str = ""
    """The name of the workload in PyTorch that it is the counterpart of."""
    trains: bool = True
    """False for a micro-benchmark, which is not converted."""

    @property
    def script(self) -> Path:
        return FOLDER / f"{self.name}.py"

    def subject(self, size: str) -> Subject:
        return Subject(
            name=f"{self.name} {size}",
            script=str(self.script),
            arguments=("--size", size),
            metric=self.metric if self.trains else "",
            metric_name="perplexity" if self.metric == _PERPLEXITY else "accuracy",
            seed="--seed" if self.trains else "",
            trains=self.trains,
            task=f"{self.task or self.name} {size}",
        )

    @property
    def modules(self) -> tuple[str, ...]:
        """What must be importable."""
        return (*self.platform.modules, "numpy") if self.trains else self.platform.modules


WORKLOADS = (
    Workload(name="mnist_mlp", title="MNIST, perceptron 784-512-512-10"),
    Workload(name="mnist_cnn", title="MNIST, small CNN"),
    Workload(name="fashion_cnn", title="Fashion-MNIST, CNN"),
    Workload(name="cifar10_cnn", title="CIFAR-10, medium CNN"),
    Workload(name="cifar100_resnet18", title="CIFAR-100, ResNet-18"),
    Workload(name="imdb_transformer", title="IMDB, small transformer"),
    Workload(
        name="wikitext_transformer",
        title="WikiText, transformer language model",
        metric=_PERPLEXITY,
    ),
    Workload(name="fish_resnet34", title="fish, ResNet-34"),
    Workload(name="mnist_192", title="MNIST, 784-192-10 in PyTorch"),
    Workload(
        name="mnist_192_keras",
        title="MNIST, 784-192-10 in Keras on JAX",
        platform=_JAX,
        task="mnist_192",
    ),
    Workload(
        name="mnist_192_tensorflow",
        title="MNIST, 784-192-10 in Keras on TensorFlow",
        platform=_TENSORFLOW,
        task="mnist_192",
    ),
    Workload(
        name="mnist_cnn_keras",
        title="MNIST, small CNN in Keras on JAX",
        platform=_JAX,
        task="mnist_cnn",
    ),
    Workload(
        name="cifar10_cnn_keras",
        title="CIFAR-10, medium CNN in Keras on JAX",
        platform=_JAX,
        task="cifar10_cnn",
    ),
    Workload(
        name="imdb_transformer_keras",
        title="IMDB, small transformer in Keras on JAX",
        platform=_JAX,
        task="imdb_transformer",
    ),
    Workload(
        name="wikitext_transformer_keras",
        title="WikiText, transformer language model in Keras on JAX",
        metric=_PERPLEXITY,
        platform=_JAX,
        task="wikitext_transformer",
    ),
    Workload(name="micro_matmul", title="matrix products", trains=False),
    Workload(name="micro_convolution", title="training step of a convolution", trains=False),
)


def find_workload(name: str) -> Workload:
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    from difflib import get_close_matches

    names = [workload.name for workload in WORKLOADS]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(names)}"
    raise UserError(f"no workload or script is called '{name}' — {hint}")
