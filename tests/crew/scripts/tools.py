"""Batch normalisation, sums, turns. Run by three workers; every check is an assert."""

import collections
import copy
import io
import pickle
import sys
import time
from pathlib import Path

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from trainera import crew

crew.join()
RANK, SIZE = crew.rank(), crew.size()
FOLDER = Path(sys.argv[1])


class Doubled(nn.BatchNorm1d):
    def forward(self, input):
        return super().forward(input * 2) + 1


def layers():
    yield nn.BatchNorm1d(5), (5,)
    yield nn.BatchNorm1d(5, momentum=None), (5, 3)
    yield nn.BatchNorm2d(4, affine=False), (4, 3, 3)
    yield nn.BatchNorm3d(2, track_running_stats=False), (2, 2, 2, 2)
    yield Doubled(5, eps=1e-3, momentum=0.3), (5,)
    yield nn.Sequential(nn.BatchNorm2d(3), nn.Tanh(), nn.BatchNorm2d(3)), (3, 2, 2)


def check_batchnorm():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    for number, (layer, shape) in enumerate(layers()):
        for parameter in layer.parameters():
            nn.init.normal_(parameter, 1.0)
        plain = copy.deepcopy(layer)
        x = torch.randn(11, *shape) * 3 + 5
        target = torch.randn(11, *shape)
        ours = crew.batchnorm(layer)
        assert ours is layer and isinstance(layer, type(plain))
        assert type(layer).__name__ == type(plain).__name__
        loader = crew.split(DataLoader(TensorDataset(x, target), batch_size=9))  # then 2: one idle
        wholes = [(x[:9], target[:9]), (x[9:], target[9:])]
        for (part, wanted), (whole, whole_wanted) in zip(loader, wholes, strict=True):
            mine = part.clone().requires_grad_()
            every = whole.clone().requires_grad_()
            layer.zero_grad(), plain.zero_grad()
            out, expected = layer(mine), plain(every)
            loss = ((out - wanted) ** 4).mean() * loader.share / SIZE
            loss.backward()
            ((expected - whole_wanted) ** 4).mean().backward()
            close(loader.gather(out), expected)
            close(loader.gather(mine.grad), every.grad)
            if not loader.active:
                assert not mine.grad.any()
            for a, b in zip(layer.parameters(), plain.parameters(), strict=True):
                close(crew.sum(a.grad), b.grad)
            assert list(layer.state_dict()) == list(plain.state_dict())
            for key, value in layer.state_dict().items():
                close(value, plain.state_dict()[key])
                identical(value)
        # In evaluation, and outside of a pass, it is as ever.
        close(layer(x), plain(x))
        layer.eval(), plain.eval()
        if number != 3:
            for part, _ in loader:
                close(layer(part), plain(part))
        else:  # without running statistics even evaluation needs the whole batch
            for part, _ in loader:
                close(loader.gather(layer(part)), plain(wholes[0][0]))
                break
        # Copies and files know nothing of the crew.
        buffer = io.BytesIO()
        torch.save(layer, buffer)
        buffer.seek(0)
        loaded = torch.load(buffer, weights_only=False)
        for other in (loaded, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            for a, b in zip(other.modules(), plain.modules(), strict=True):
                assert type(a) is type(b)
            close(other(x), plain(x))
    model = crew.batchnorm(nn.Sequential(nn.BatchNorm1d(2), nn.InstanceNorm1d(2)))
    assert type(model[1]) is nn.InstanceNorm1d
    assert crew.batchnorm(model) is model
    # Evaluation in training mode, with workers that skip: told, not hanging.
    loader = crew.split(DataLoader(TensorDataset(torch.randn(3, 2)), batch_size=3), skip_empty=True)
    without = crew.batchnorm(nn.BatchNorm1d(2, track_running_stats=False)).eval()
    for layer, way_out in ((model[0], "model.eval()"), (without, "track_running_stats=True")):
        failed = False
        try:
            for (part,) in loader:
                layer(part)
        except RuntimeError as error:
            failed = way_out in str(error)
        assert failed == (RANK == 0)
    float32 = crew.batchnorm(nn.BatchNorm2d(3).float())
    loader = crew.split(DataLoader(TensorDataset(torch.randn(6, 3, 2, 2)), batch_size=6))
    for (part,) in loader:
        assert float32(part.float()).dtype == torch.float32
        assert float32(part.bfloat16()).dtype == torch.bfloat16
    torch.set_default_dtype(torch.float32)


def close(ours, expected):
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)


def identical(value):
    values = [None] * SIZE
    dist.all_gather_object(values, pickle.dumps(value.tolist()))
    assert len(set(values)) == 1


def check_sums():
    total = sum(range(1, SIZE + 1))
    count, mean, tensor = crew.sum(RANK + 1, 0.1 * (RANK + 1), torch.full((2, 2), RANK + 1))
    assert type(count) is int and count == total
    assert type(mean) is float and abs(mean - 0.1 * total) < 1e-15
    assert tensor.dtype == torch.int64 and tensor.tolist() == [[total] * 2] * 2
    big = 2**70 + RANK
    assert crew.sum(big) == SIZE * 2**70 + 3
    assert crew.sum(2**62 + 1 if RANK == 0 else 0) == 2**62 + 1
    assert crew.sum(RANK == 0) == 1 and type(crew.sum(True)) is int
    half = crew.sum(torch.ones(3, dtype=torch.float16, requires_grad=True))
    assert half.dtype == torch.float16 and not half.requires_grad and half.tolist() == [3.0] * 3
    assert crew.sum(torch.tensor([True, RANK == 0])).tolist() == [3, 1]
    assert crew.sum(torch.tensor(1 + 2j)) == 3 + 6j
    array = crew.sum(numpy.full((2, 3), RANK, dtype=numpy.int32))
    assert array.dtype == numpy.int32 and array.tolist() == [[3] * 3] * 2
    scalar = crew.sum(numpy.float32(0.5))
    assert type(scalar) is numpy.float32 and scalar == 1.5
    nested = crew.sum({"a": [RANK, 1.5], "b": (torch.ones(1),)})
    assert nested == {"a": [3, 4.5], "b": (torch.tensor([3.0]),)}
    per_class = collections.defaultdict(int, {RANK: 2, "all": 1})
    merged = crew.sum(per_class)
    assert merged == {0: 2, 1: 2, 2: 2, "all": 3} and type(merged) is collections.defaultdict
    # A worker that skipped all batches still has what it began with.
    assert crew.sum(0 if RANK else 0.5) == 0.5
    found = crew.sum(0 if RANK else torch.tensor([1.0, 2.0]))
    assert torch.equal(found, torch.tensor([1.0, 2.0]))
    large = crew.sum(torch.full((5000,), float(RANK)), 1)
    assert large[0].sum() == 15000 and large[1] == 3
    for bad, said in (("text", "cannot sum a str"), ([0] * (RANK + 1), "list of")):
        try:
            crew.sum(bad)
            raise AssertionError(bad)
        except (TypeError, ValueError) as error:
            assert said in str(error), error
    values = [0.1, 1e16, -1e16]
    result = torch.tensor(crew.sum(values[RANK]))
    identical(result)


def check_split_reductions():
    x = torch.arange(10.0)
    loader = crew.split(DataLoader(TensorDataset(x), batch_size=8))
    for (part,), whole in zip(loader, (x[:8], x[8:]), strict=True):
        assert loader.sum(len(part)) == len(whole)
        assert abs(loader.mean(part.mean().item()) - whole.mean().item()) < 1e-12
        assert torch.equal(loader.sum(part.sum()), whole.sum())
        # Not even a stand-in that is not a number disturbs.
        assert loader.sum(float("nan") if not loader.active else 1.0) in (1.0, 3.0)
        assert loader.mean(float("nan") if not loader.active else 1.0) == 1.0
        assert loader.mean(3) == 3.0 and type(loader.mean(3)) is float
        counts = loader.sum({"idle" if not loader.active else "seen": 1})
        assert counts == {"seen": 3 if len(whole) == 8 else 1}
        assert torch.equal(loader.gather(part), whole)
        assert torch.equal(loader.gather(part.repeat_interleave(2)), whole.repeat_interleave(2))
        rows, names = loader.gather((part.numpy(), [str(v) for v in part.tolist()]))
        assert rows.tolist() == whole.tolist() and names == [str(v) for v in whole.tolist()]
        assert loader.gather({"p": part})["p"].tolist() == whole.tolist()
        if len(whole) == 8:
            for wrong, said in ((torch.zeros(4), "4 rows"), (2.5, "without rows")):
                if isinstance(wrong, float) or RANK < 2:
                    try:
                        loader.gather(wrong)
                        raise AssertionError
                    except ValueError as error:
                        assert said in str(error), error


def check_turns():
    calls = []
    result = crew.once(calls.append, RANK)
    assert calls == ([0] if RANK == 0 else [])
    assert result is None if RANK == 0 else isinstance(result, crew.Nobody)
    with crew.once(open, FOLDER / "log.txt", "w") as file:
        file.write("line\n")
        for _ in file if RANK else ():
            raise AssertionError
    nobody = crew.Nobody()
    nobody.figure.axes[0].plot(1, color="red").style = 3
    nobody["key"] = 1
    del nobody["key"]
    assert not nobody and len(nobody) == 0 and list(nobody) == [] and "x" not in nobody
    crew.once(lambda: (time.sleep(0.3), (FOLDER / "made").mkdir()))
    assert (FOLDER / "made").is_dir()
    try:
        crew.once(lambda: {}["absent"])
        raise AssertionError("no error")
    except KeyError as error:
        assert error.args == ("absent",)
        assert (error.__cause__ is None) == (RANK == 0)
        assert RANK == 0 or "KeyError: 'absent'" in str(error.__cause__)
    try:
        crew.once(sys.exit, 4)
    except SystemExit as error:
        assert error.code == 4

    def download():
        path = FOLDER / "data"
        if not path.exists():
            time.sleep(0.2)
            path.mkdir()
            return "made"
        return "found"

    assert crew.in_turn(download) == ("made" if RANK == 0 else "found")
    try:
        crew.in_turn(lambda: 1 / (RANK > 0))
        raise AssertionError("no error")
    except ZeroDivisionError as error:
        assert (error.__cause__ is None) == (RANK == 0)
    assert crew.agree(RANK) == 0
    assert crew.agree({"t": [RANK] * 2000}) == {"t": [0] * 2000}
    assert crew.agree(torch.tensor([RANK])).tolist() == [0]
    try:
        crew.agree(lambda: 0)
        raise AssertionError("no error")
    except RuntimeError as error:
        assert RANK > 0 and "could not send" in str(error)
    except Exception:
        assert RANK == 0
    model = nn.Linear(2, 2)
    assert crew.bare(DistributedDataParallel(model)) is model and crew.bare(model) is model


check_sums()
check_split_reductions()
check_turns()
check_batchnorm()
print("all checked")
