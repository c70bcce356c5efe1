"""Training and prediction on a Dask cluster."""

from boostr._optional import require

for _module in ("dask.dataframe", "distributed", "pyarrow"):
    require(_module, extra="dask", feature="boostr.dask")

from boostr.dask._estimator import DaskBoostR  # noqa: E402 - what it needs is there

__all__ = ["DaskBoostR"]
