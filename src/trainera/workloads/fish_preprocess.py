"""Prepares a folder of photographs, one folder a class, for fish_resnet34.py.

python fish_preprocess.py --images FOLDER --output data/fish.npz

Each photograph is resized to 197×148, made grey, scaled to [0, 1] and written in half precision, as
the thesis did, but into an archive of plain arrays: reading it back cannot run code, as a pickle
could. Needs numpy and pillow.
"""
import argparse
from pathlib import Path

import numpy
from PIL import Image

KINDS = {".jpg", ".jpeg", ".png", ".bmp"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=Path, required=True, help="holds one folder a class")
    parser.add_argument("--output", type=Path, default=Path("data/fish.npz"))
    parser.add_argument("--width", type=int, default=197)
    parser.add_argument("--height", type=int, default=148)
    args = parser.parse_args()

    folders = sorted(folder for folder in args.images.glob("**/") if folder != args.images)
    files = {folder: [f for f in sorted(folder.iterdir()) if f.suffix.lower() in KINDS] for folder in folders}
    names = sorted({folder.name for folder, found in files.items() if found})
    if not names:
        raise SystemExit(f"{args.images}: no folders with photographs in it")

    images, labels = [], []
    for folder, found in files.items():
        for file in found:
            grey = Image.open(file).convert("L").resize((args.width, args.height))
            images.append(numpy.asarray(grey, dtype=numpy.float32) / 255)
            labels.append(names.index(folder.name))
    # In random order, so that any part of the file holds all classes.
    order = numpy.random.default_rng(0).permutation(len(images))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    numpy.savez(
        args.output,
        images=numpy.stack(images).astype(numpy.float16)[order],
        labels=numpy.array(labels, dtype=numpy.uint8)[order],
        classes=numpy.array(names),
    )
    print(f"{len(images)} photographs of {len(names)} classes in {args.output}")


if __name__ == "__main__":
    main()
