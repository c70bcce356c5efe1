"""Inspection of fitted models: sensor effects, importances, maps of features."""

from boostr.inspection._coefficient_map import CoefficientMap, coefficient_map
from boostr.inspection._convergence import IndividualConvergence, individual_convergence
from boostr.inspection._explain import explain
from boostr.inspection._explanation import Explanation
from boostr.inspection._importance import (
    FeatureImportance,
    PermutationImportance,
    SensorImportance,
    feature_importance,
    permutation_importance,
    sensor_importance,
)
from boostr.inspection._partial_dependence import (
    FeatureInteraction,
    PartialDependence,
    feature_interaction,
    partial_dependence,
)
from boostr.inspection._residuals import (
    CumulativeResiduals,
    RescaledTimes,
    rescaled_times,
    residuals,
)
from boostr.inspection._sensor_effect import SensorEffect, sensor_effect
from boostr.inspection._summary import ModelSummary, model_summary
from boostr.inspection._trees import (
    LeafCounts,
    TreePartition,
    leaf_counts,
    tree_partition,
    trees_frame,
)
from boostr.inspection._validation import ValidationResults

__all__ = [
    "CoefficientMap",
    "CumulativeResiduals",
    "Explanation",
    "FeatureImportance",
    "FeatureInteraction",
    "IndividualConvergence",
    "LeafCounts",
    "ModelSummary",
    "PartialDependence",
    "PermutationImportance",
    "RescaledTimes",
    "SensorEffect",
    "SensorImportance",
    "TreePartition",
    "ValidationResults",
    "coefficient_map",
    "explain",
    "feature_importance",
    "feature_interaction",
    "individual_convergence",
    "leaf_counts",
    "model_summary",
    "partial_dependence",
    "permutation_importance",
    "rescaled_times",
    "residuals",
    "sensor_effect",
    "sensor_importance",
    "tree_partition",
    "trees_frame",
]
