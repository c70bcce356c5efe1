"""boostr as it comes: nothing is set but the seed."""

from __future__ import annotations

from boostr import BoostR


def make_boostr(seed: int) -> BoostR:
    return BoostR(random_state=seed)
