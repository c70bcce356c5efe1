"""Names for the arrays, and for other things, that pass between modules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.int32]
PositionArray: TypeAlias = NDArray[np.intp]
OffsetArray: TypeAlias = NDArray[np.int64]
BinArray: TypeAlias = NDArray[np.uint8]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
# Of a compiled function: a number, or the function itself where Numba is switched off.
Address: TypeAlias = Any
