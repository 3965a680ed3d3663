"""What reading the energy counters costs: CPU time of the sampler as a part of the time it ran.

python benchmarks/sampler.py [SECONDS]

On a device tree that is made for it: two packages with memory, as servers have them.
"""

import sys
import tempfile
import time
from pathlib import Path

from trainera.bench.energy import find_meters
from trainera.bench.energy.sampler import Sampler

ZONES = {"0": "package-0", "0:0": "dram", "1": "package-1", "1:0": "dram"}


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with tempfile.TemporaryDirectory() as name:
        for zone, kind in ZONES.items():
            folder = Path(name) / "class" / "powercap" / f"intel-rapl:{zone}"
            folder.mkdir(parents=True)
            (folder / "name").write_text(kind)
            (folder / "max_energy_range_uj").write_text("262143328850")
            (folder / "energy_uj").write_text("1000000")
        with Sampler(find_meters(Path(name))) as sampler:
            time.sleep(seconds)
    print(f"{sampler.cost_s / seconds:.4%} of one core, {len(ZONES)} counters, {seconds:g} s")


if __name__ == "__main__":
    main()
