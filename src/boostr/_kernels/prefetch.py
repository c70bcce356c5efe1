"""Numbers that a kernel asks for ahead, so that it need not wait for them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from boostr._kernels._jit import types
from boostr._typing import AnyArray

__all__ = ["prefetch"]


def _prefetch_nothing(array: AnyArray, place: np.uint64) -> None:
    """Do what `prefetch` does where Numba is switched off."""


@intrinsic
def _prefetch(context: Any, array: Any, place: Any) -> Any:
    """Ask for the cache line of a place, counted in a flat array; this changes nothing."""
    del context

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        pointer = builder.bitcast(builder.gep(data, [values[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # To be read, to stay in all caches, and it is data, not code.
        builder.call(ask, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, place), generate


_is_compiled = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
prefetch: Any = _prefetch if _is_compiled else _prefetch_nothing
