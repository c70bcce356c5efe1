"""Trees with vector leaves, grown from histograms."""

from boostr._engine.tree._coarse import joins_bins
from boostr._engine.tree._grower import GrowthParams, grow_tree
from boostr._engine.tree._limits import Limits
from boostr._engine.tree._search import LeafProblem, compile_grouped_search, compile_search
from boostr._engine.tree._source import PARALLEL_FROM, HistogramSource, LocalSource
from boostr._engine.tree._tree import Tree, pack_trees
from boostr._engine.tree._whole import (
    WholeRoot,
    compile_grouped_growth,
    compile_growth,
    compile_shared_growth,
)

__all__ = [
    "PARALLEL_FROM",
    "GrowthParams",
    "HistogramSource",
    "LeafProblem",
    "Limits",
    "LocalSource",
    "Tree",
    "WholeRoot",
    "compile_grouped_growth",
    "compile_grouped_search",
    "compile_growth",
    "compile_search",
    "compile_shared_growth",
    "grow_tree",
    "joins_bins",
    "pack_trees",
]
