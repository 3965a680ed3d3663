"""Lets a script that was distributed by hand leave without a hang or an abort, not its faults."""

import functools
from typing import Any

from trainera.crew.transport import settle
from trainera.verify.observe.record import put


class Leaving:
    """Waits for gloo's threads before the group ends, and before the process does.

    They may abort a process that leaves too early, or wait for the interpreter while it waits for
    them; now and then, after good work. That would be called a difference, and not found again in
    the next run.
    """

    def install(self) -> None:
        """Hooks into the end of the group: soon after, the script may let go of what holds it."""
        import torch.distributed as dist

        if dist.is_available():
            hook = self._settled(dist.destroy_process_group)
            put(dist, "destroy_process_group", hook)
            put(dist.distributed_c10d, "destroy_process_group", hook)

    def end(self) -> None:
        """Waits, at most for a moment."""
        settle()

    def _settled(self, original: Any) -> Any:
        @functools.wraps(original)
        def destroy_process_group(*args: Any, **options: Any) -> Any:
            settle()
            return original(*args, **options)

        return destroy_process_group
