"""Trees with vector leaves, grown from histograms."""

from boostr._engine.tree._coarse import joins_bins
from boostr._engine.tree._grower import (
    GrowthParams,
    can_grow_rounds,
    grow_rounds,
    grow_tree,
    read_whole_root,
)
from boostr._engine.tree._limits import Limits
from boostr._engine.tree._search import LeafProblem, compile_grouped_search, compile_search
from boostr._engine.tree._source import PARALLEL_FROM, HistogramSource, LocalSource
from boostr._engine.tree._tree import Tree, pack_trees
from boostr._engine.tree._whole import (
    GrownRound,
    NextRounds,
    WholeRoot,
    compile_growth,
    compile_rounds,
)

__all__ = [
    "PARALLEL_FROM",
    "GrownRound",
    "GrowthParams",
    "HistogramSource",
    "LeafProblem",
    "Limits",
    "LocalSource",
    "NextRounds",
    "Tree",
    "WholeRoot",
    "can_grow_rounds",
    "compile_grouped_search",
    "compile_growth",
    "compile_rounds",
    "compile_search",
    "grow_rounds",
    "grow_tree",
    "joins_bins",
    "pack_trees",
    "read_whole_root",
]
