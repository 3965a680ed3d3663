"""Data for the workloads: real where they are found, else made, learnable and of the same shape.

Looked for in the folder that TRAINERA_DATA names, then in ./data, ~/.cache/trainera and
/usr/share/datasets (Debian's dataset-fashion-mnist). Nothing is downloaded. The same arrays serve
every framework; images are [samples, channels, height, width] in [0, 1].
"""
import csv
import gzip
import os
import tarfile
from pathlib import Path

import numpy as np


def find(*names):
    """The first folder or file of one of these names; None if there is none."""
    places = [
        os.environ.get("TRAINERA_DATA"),
        "data",
        Path.home() / ".cache" / "trainera",
        "/usr/share/datasets",
    ]
    for place in places:
        for name in names:
            if place and (Path(place) / name).exists():
                return Path(place) / name
    return None


def generator(seed):
    """Random numbers apart from those of the training, so that data and training stay apart."""
    return np.random.default_rng(seed)


# Images


def read_idx(path):
    """A file of the MNIST format: a magic number, the sizes, then bytes."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    dimensions = content[3]
    shape = [
        int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(dimensions)
    ]
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def scaled(pixels):
    return pixels.astype("float32") / 255


def stretched(few, many):
    """Weights by which few points become many, with straight lines between them."""
    places = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
    return np.maximum(0, 1 - abs(places[:, None] - np.arange(few))).astype("float32")


def made_images(count, channels, height, width, classes, seed):
    """Each class has a coarse pattern of its own; each image is its pattern with noise."""
    coarse = generator(1234).standard_normal((classes, channels, 6, 6), dtype="float32")
    patterns = stretched(6, height) @ coarse @ stretched(6, width).T
    labels = generator(seed).integers(classes, size=count)
    noise = generator(seed + 1).standard_normal((count, channels, height, width), dtype="float32")
    return np.clip((patterns[labels] + 0.5 * noise) * 0.2 + 0.5, 0, 1), labels


def grey_digits(names, train, test):
    """MNIST or Fashion-MNIST: training and test set, and whether they are real."""
    folder = find(*names)
    if folder is None:
        return made_images(train, 1, 28, 28, 10, 1), made_images(test, 1, 28, 28, 10, 3), "generated"
    sets = []
    for part, count in (("train", train), ("t10k", test)):
        images = read_idx(next(folder.glob(f"{part}-images-idx3-ubyte*")))[:count]
        labels = read_idx(next(folder.glob(f"{part}-labels-idx1-ubyte*")))[:count]
        sets.append((scaled(images[:, None]), labels.astype("int64")))
    return sets[0], sets[1], "real"


def read_binary(paths, label_bytes, count):
    """CIFAR's binary version: the label (the last of its bytes), then 3 × 32 × 32 bytes."""
    content = b"".join(path.read_bytes() for path in paths)
    rows = np.frombuffer(content, dtype=np.uint8).reshape(-1, label_bytes + 3072)[:count]
    images = scaled(rows[:, label_bytes:].reshape(-1, 3, 32, 32))
    return images, rows[:, label_bytes - 1].astype("int64")


def read_photographs(names_and_files, count, mode, size=None):
    """Photographs with the number of their class, every class in turn."""
    from PIL import Image

    by_class = {}
    for name, file in names_and_files:
        by_class.setdefault(name, []).append(file)
    images, labels = [], []
    each = -(-count // len(by_class))
    for label, name in enumerate(sorted(by_class)):
        for file in by_class[name][:each]:
            picture = Image.open(file).convert(mode)
            if size is not None:
                picture = picture.resize(size)
            pixels = np.asarray(picture).reshape(picture.height, picture.width, -1)
            images.append(pixels.transpose(2, 0, 1))
            labels.append(label)
    return scaled(np.stack(images)), np.array(labels)


def has_pillow():
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        return False
    return True


def cifar10(train, test):
    folder = find("cifar-10-batches-bin", "cifar10")
    if folder is not None and folder.name == "cifar-10-batches-bin":
        batches = sorted(folder.glob("data_batch_*.bin"))
        held = read_binary([folder / "test_batch.bin"], 1, test)
        return read_binary(batches, 1, train), held, "real"
    if folder is not None and (folder / "train.tar").exists() and has_pillow():
        sets = []
        for part, count in (("train", train), ("test", test)):
            with tarfile.open(folder / f"{part}.tar") as archive:
                files = sorted((m for m in archive if m.isfile()), key=lambda m: m.name)
                pairs = [(m.name.split("/")[1], archive.extractfile(m)) for m in files]
                sets.append(read_photographs(pairs, count, "RGB"))
        return sets[0], sets[1], "real"
    return made_images(train, 3, 32, 32, 10, 1), made_images(test, 3, 32, 32, 10, 3), "generated"


def cifar100(train, test):
    folder = find("cifar-100-binary")
    if folder is not None:
        held = read_binary([folder / "test.bin"], 2, test)
        return read_binary([folder / "train.bin"], 2, train), held, "real"
    return made_images(train, 3, 32, 32, 100, 1), made_images(test, 3, 32, 32, 100, 3), "generated"


def fish(count, height, width):
    """Grey photographs of fish in [0, 1], all in one set, and the number of classes."""
    prepared = find("fish.npz")
    if prepared is not None:
        with np.load(prepared, allow_pickle=False) as arrays:
            images = arrays["images"][:count].astype("float32")
            labels = arrays["labels"][:count].astype("int64")
        rows = np.arange(height) * images.shape[1] // height
        columns = np.arange(width) * images.shape[2] // width
        return (images[:, None, rows][..., columns], labels), int(labels.max()) + 1, "real"
    folder = find("fish")
    if folder is not None and has_pillow():
        files = sorted(folder.glob("*/*/*.jpg"))
        pairs = [(file.parent.name, file) for file in files]
        classes = len({name for name, _ in pairs})
        return read_photographs(pairs, count, "L", (width, height)), classes, "real"
    return made_images(count, 1, height, width, 9, 1), 9, "generated"


# Text


def reviews(train, test, length, words):
    """Film reviews as numbers of words, [CLS] = 1 first, 0 for padding; 1 is a good review."""
    folder = find("imdb")
    if folder is None:
        return made_reviews(train, length, words, 1), made_reviews(test, length, words, 2), "generated"
    texts, labels = [], []
    for part, count in (("train", train), ("test", test)):
        with gzip.open(folder / f"{part}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        step = max(1, len(rows) // count)
        texts.append([row[0].lower().split()[: length - 1] for row in rows[::step][:count]])
        labels.append([int(row[1]) for row in rows[::step][:count]])
    frequency = {}
    for text in texts[0]:
        for word in text:
            frequency[word] = frequency.get(word, 0) + 1
    known = sorted(frequency, key=lambda word: (-frequency[word], word))[: words - 3]
    codes = {word: number for number, word in enumerate(known, start=3)}
    sets = []
    for part in range(2):
        tokens = np.zeros((len(texts[part]), length), dtype="int64")
        for row, text in enumerate(texts[part]):
            line = [1] + [codes.get(word, 2) for word in text]
            tokens[row, : len(line)] = line
        sets.append((tokens, np.array(labels[part])))
    return sets[0], sets[1], "real"


def made_reviews(count, length, words, seed):
    """A good review has more words from the upper half of the vocabulary."""
    labels = generator(seed).integers(2, size=count)
    tokens = generator(seed + 10).integers(3, words, size=(count, length))
    telling = generator(seed + 20).random((count, length)) < 0.3
    half = (words - 3) // 2
    good = 3 + half + (tokens - 3) % half
    bad = 3 + (tokens - 3) % half
    tokens = np.where(telling, np.where(labels[:, None] == 1, good, bad), tokens)
    tokens[:, 0] = 1
    return tokens, labels


def running_text(train, test, length, words):
    """Pieces of a running text with the same piece one word on."""
    folder = find("wikitext-2")
    if folder is None:
        return made_text(train, length, words, 1), made_text(test, length, words, 2), "generated"
    source = folder / "train.txt"
    if not source.exists():
        source = folder / "valid.txt"
    running = source.read_text(encoding="utf-8").split()[: train * length + 1]
    held = (folder / "test.txt").read_text(encoding="utf-8").split()[: test * length + 1]
    frequency = {}
    for word in running:
        frequency[word] = frequency.get(word, 0) + 1
    known = sorted(frequency, key=lambda word: (-frequency[word], word))[: words - 1]
    codes = {word: number for number, word in enumerate(known, start=1)}
    sets = []
    for text in (running, held):
        sets.append(pieces(np.array([codes.get(word, 0) for word in text]), length))
    return sets[0], sets[1], "real"


def made_text(count, length, words, seed):
    """After each word one of four others follows."""
    following = generator(1234).integers(words, size=(words, 4))
    choices = generator(seed).integers(4, size=count * length + 1).tolist()
    table, word, text = following.tolist(), 0, []
    for choice in choices:
        text.append(word)
        word = table[word][choice]
    return pieces(np.array(text), length)


def pieces(tokens, length):
    count = (len(tokens) - 1) // length
    inputs = tokens[: count * length].reshape(count, length)
    targets = tokens[1 : count * length + 1].reshape(count, length)
    return inputs, targets
