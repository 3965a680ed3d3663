"""Which functions draw random numbers or make tensors to a size. Knowledge only."""

# Functions that draw from the generator that all of torch shares; those of numpy.random and of
# random do, but for these.
OWN_RANDOM = {
    *("torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.bernoulli"),
    *("torch.normal", "torch.multinomial", "torch.poisson"),
    *("torch.rand_like", "torch.randn_like", "torch.randint_like"),
    *("torch.dropout", "torch.nn.functional.dropout"),
}
IN_PLACE_DRAWS = {
    *("normal_", "uniform_", "bernoulli_", "random_", "exponential_", "cauchy_", "geometric_"),
    "log_normal_",
}
NO_DRAW = {"seed", "get_state", "set_state", "getstate", "setstate", "default_rng"}
# What makes a tensor of a size: given as numbers or as a tuple,
MADE = {"zeros", "ones", "full", "rand", "randn", "empty"}
# or as the first argument, after which others come,
SIZE_FIRST = {"full", "standard_normal", "random", "random_sample", "ranf", "sample"}
# or as the last one.
SIZE_LAST = {
    *("randint", "normal", "uniform", "beta", "gamma", "binomial", "poisson", "exponential"),
    *("laplace", "logistic", "lognormal", "geometric", "gumbel", "rayleigh", "triangular"),
}
TYPED = {
    f"torch.{place}{name}Tensor"
    for place in ("", "cuda.")
    for name in ("", "Float", "Double", "Half", "Long", "Int", "Byte", "Bool")
}
MAKERS = frozenset(
    {*MADE, *SIZE_FIRST, *SIZE_LAST, *(name.rpartition(".")[2] for name in TYPED), "rsample"}
)
SEEDS = {
    *("torch.manual_seed", "torch.random.manual_seed", "random.seed", "numpy.random.seed"),
    *("torch.cuda.manual_seed", "torch.cuda.manual_seed_all"),
}
# Generators that seed themselves unless told: all workers use the first one's.
SELF_SEEDED = {
    *("numpy.random.default_rng", "numpy.random.RandomState", "random.Random"),
    *("numpy.random.SeedSequence", "numpy.random.PCG64", "numpy.random.MT19937"),
    *("numpy.random.PCG64DXSM", "numpy.random.Philox", "numpy.random.SFC64"),
}
# Numbers that come from the system: all workers use the first one's.
ENTROPY = {"os.urandom", "secrets.randbits", "secrets.randbelow", "secrets.token_bytes"}
# What has no state that could be shared.
SYSTEM_RANDOM = {
    *("random.SystemRandom", "secrets.SystemRandom", "secrets.choice"),
    *("torch.seed", "torch.random.seed", "torch.cuda.seed", "torch.cuda.seed_all"),
}
