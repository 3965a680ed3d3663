"""Exceptions of one worker, on the others: a script may expect them, so they are the same.

What is not caught ends all workers; that the others only follow the first one is seen by the cause.
"""

import pickle
from typing import Any, NoReturn

from trainera.crew.memory import WorkerLost


def as_sent(error: BaseException) -> tuple[Any, ...]:
    """An exception as what can be sent: its type or the nearest that others know, and what it has.

    An instance goes as a whole where it can be made again of itself.
    """
    told = f"{type(error).__name__}: {error}"
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error, None, (), {}, told
    except Exception:  # it has a constructor of its own, or holds what cannot be sent
        pass
    known = next(cls for cls in type(error).__mro__ if _can_be_sent(cls))
    args = error.args if _can_be_sent(error.args) else (str(error),)
    return None, known, args, vars(error) if _can_be_sent(vars(error)) else {}, told


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True


def raise_sent(sent: tuple[Any, ...], who: str) -> NoReturn:
    """Raises it here, as a consequence of what happened there."""
    error, known, args, state, told = sent
    if error is None:
        error = known.__new__(known, *args)
        error.args = args
        vars(error).update(state)
    if isinstance(error, SystemExit):
        raise error
    raise error from WorkerLost(f"{who} failed: {told}")
