"""Search of parameters, splits of individuals and of time, and back-tests."""

from boostr.tuning._backtest import backtest
from boostr.tuning._backtest_result import Backtest
from boostr.tuning._search import BoostRSearch
from boostr.tuning._space import default_space, max_pro_criterion, max_pro_design
from boostr.tuning._splits import AsOf, AsOfSplit, Cut, as_of_split, cut_at

__all__ = [
    "AsOf",
    "AsOfSplit",
    "Backtest",
    "BoostRSearch",
    "Cut",
    "as_of_split",
    "backtest",
    "cut_at",
    "default_space",
    "max_pro_criterion",
    "max_pro_design",
]
