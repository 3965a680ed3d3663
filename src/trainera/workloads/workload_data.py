"""The data of workload_arrays.py as datasets of PyTorch."""
import torch
import workload_arrays
from torch.utils.data import TensorDataset


def dataset(inputs, targets):
    return TensorDataset(torch.from_numpy(inputs), torch.from_numpy(targets))


def grey_digits(names, train, test):
    train_set, test_set, origin = workload_arrays.grey_digits(names, train, test)
    return dataset(*train_set), dataset(*test_set), origin


def cifar10(train, test):
    train_set, test_set, origin = workload_arrays.cifar10(train, test)
    return dataset(*train_set), dataset(*test_set), origin


def cifar100(train, test):
    train_set, test_set, origin = workload_arrays.cifar100(train, test)
    return dataset(*train_set), dataset(*test_set), origin


def fish(count, height, width):
    photographs, classes, origin = workload_arrays.fish(count, height, width)
    return dataset(*photographs), classes, origin


def reviews(train, test, length, words):
    train_set, test_set, origin = workload_arrays.reviews(train, test, length, words)
    return dataset(*train_set), dataset(*test_set), origin


def running_text(train, test, length, words):
    train_set, test_set, origin = workload_arrays.running_text(train, test, length, words)
    return dataset(*train_set), dataset(*test_set), origin
