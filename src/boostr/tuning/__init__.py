"""Search of settings: space-filling designs, splits of individuals and of time."""

from boostr.tuning._cut import Cut, cut_at
from boostr.tuning._design import max_pro_criterion, max_pro_design
from boostr.tuning._search import BoostRSearch
from boostr.tuning._space import default_space
from boostr.tuning._splits import AsOf, AsOfSplit, as_of_split

__all__ = [
    "AsOf",
    "AsOfSplit",
    "BoostRSearch",
    "Cut",
    "as_of_split",
    "cut_at",
    "default_space",
    "max_pro_criterion",
    "max_pro_design",
]
