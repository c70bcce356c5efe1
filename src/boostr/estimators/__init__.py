"""Estimators with the interface of scikit-learn."""

from boostr.estimators._boostr import BoostR

__all__ = ["BoostR"]
