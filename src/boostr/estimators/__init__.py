"""Estimators with the interface of scikit-learn."""

from boostr.estimators._boostr import BoostR
from boostr.estimators._static import StaticTransformer

__all__ = ["BoostR", "StaticTransformer"]
