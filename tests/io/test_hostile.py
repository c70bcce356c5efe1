"""Files with a right checksum and a wrong content, each refused for the right reason."""

import numpy as np
import pytest
from tests.oracles_model_file import read_arrays, read_file, write_arrays, write_file

from boostr import io
from boostr.exceptions import InvalidModelFileError

TREES = "ensemble_.trees."


@pytest.fixture(scope="module")
def files(models):
    return {name: io.to_bytes(models(name)) for name in ("plain", "sensors", "step")}


def find(document, path):
    """Return the JSON of a field, by attributes and fields joined with dots."""
    name, *rest = path.split(".")
    node = document["attributes"][name]
    for part in rest:
        node = node["tuple"][int(part)] if part.isdigit() else node["fields"][part]
    return node


def edit(content, path, change):
    """Return the file with one array, or one piece of JSON, changed."""
    document, raw = read_file(content)
    arrays = read_arrays(document, raw)
    node = find(document, path)
    if isinstance(node, dict) and node.keys() == {"array"}:
        arrays[node["array"]] = change(arrays[node["array"]].copy())
    else:
        parent, _, last = path.rpartition(".")
        owner = find(document, parent)["fields"] if parent else document["attributes"]
        owner[last] = change(node)
    return write_file(*write_arrays(document, arrays))


def put(place, value):
    def change(values):
        values[place] = value
        return values

    return change


def to(value):
    return lambda _: value


CASES = [
    (TREES + "left_child", put(1, 0), "must come after it"),
    (TREES + "left_child", put(1, -5), "must come after it"),
    (TREES + "left_child", put(1, 2**31 - 1), "must come after it"),
    (TREES + "left_child", put(1, 2), "child of one other"),
    (TREES + "n_nodes", put(0, 2), "must belong to a tree"),
    (TREES + "n_nodes", lambda values: values[[1, 0, 2, 3]], "child of one other|after it"),
    (TREES + "n_nodes", put(0, 0), "must have nodes"),
    (TREES + "n_nodes", lambda values: values[:-1], "All trees"),
    (TREES + "n_sets", put(0, 9), "must belong to a tree"),
    (TREES + "n_sets", put(0, -1), "must have nodes"),
    (TREES + "feature", put(1, 3), "features that there are"),
    (TREES + "feature", put(0, -2), "features that there are"),
    (TREES + "feature", lambda values: values[:-1], "All nodes"),
    (TREES + "category_set", put(1, 99), "belong to the tree"),
    (TREES + "category_set", lambda values: 0 * values - 1, "split by sets"),
    (TREES + "categories", lambda values: values[:, :4], "eight words"),
    (TREES + "value", put((0, 0), np.nan), r"value` must be: float64 array"),
    (TREES + "value", lambda values: values.astype(np.float32), "float64 array"),
    (TREES + "value", lambda values: values[:, :1], "number per function"),
    (TREES + "value", lambda values: values.ravel(), r"array \(n_nodes, n_terms\)"),
    (TREES + "gain", put(0, np.inf), "gain` must be"),
    (TREES + "count", put(0, -1.0), "must not be negative"),
    ("ensemble_.n_trees", put(0, 1), "belong to a model"),
    ("ensemble_.weights", put(0, np.nan), "weights` must be"),
    ("ensemble_.horizon", to(-1.0), "number above 0"),
    ("ensemble_.horizon", to({"float": "nan"}), "number above 0"),
    ("ensemble_.horizon", to(59.0), "must be the ensemble's"),
    ("ensemble_.horizon", to(1e308), "finite, where curves are read"),
    ("ensemble_.basis", to(None), "basis` must be"),
    ("ensemble_.mapper.offsets", put(1, 10**6), "shared out"),
    ("ensemble_.mapper.offsets", put(0, -1), "shared out"),
    ("ensemble_.mapper.thresholds", lambda values: -values, "feature must rise"),
    ("ensemble_.mapper.thresholds", put(3, np.nan), "thresholds` must be"),
    ("ensemble_.mapper.is_categorical", lambda values: ~values, "must rise"),
    ("ensemble_.clock.log_times", lambda values: values[::-1], "times of a clock"),
    ("ensemble_.clock.log_counts", lambda values: values[::-1], "counts of a clock"),
    ("ensemble_.clock.log_counts", lambda values: values[1:], "count per knot"),
    ("ensemble_.clock.last_slope", to(0.0), "last_slope` must be"),
    ("clock_.last_slope", to(2.5), "clock must be the ensemble's"),
    ("encoder_.names", to({"tuple": ["a", "b"]}), "the same features"),
    ("encoder_.names", to(["site", "depth", "kind"]), "tuple of text"),
    ("encoder_.categories", to({"tuple": [[1], None, [2]]}), "Every category"),
    ("encoder_.categories", to({"tuple": [[[]], None, [2]]}), "categories` must be"),
    ("feature_names_in_", to({"objects": ["a", "b", "c"]}), "names of the features"),
    ("n_features_in_", to(10), "the same features"),
    ("n_estimators_", to(9), "number of rounds"),
    ("sensor_layout_", to(3), "sensor_layout_` must be"),
    ("feature_gains_", lambda values: values[:1], "the same features"),
    ("out_of_fold_coefficients_", to({"array": 0}), "out_of_fold_coefficients_` must be"),
]
STEP_CASES = [
    ("ensemble_.basis.edges", lambda values: values[::-1], "edges of pieces"),
    ("ensemble_.basis.curves", lambda values: values[:2], "must match edges"),
    ("ensemble_.basis.solver", to(7), "solver` must be: one of"),
]
LOAD = "ensemble_.basis.sensors.1."
SENSOR_CASES = [
    (LOAD + "order", to(1), "enough knots"),
    (LOAD + "order", to(0), "must have no knots"),
    (LOAD + "order", to(-1), "order` must be"),
    (LOAD + "knots", lambda values: values[::-1], "must rise between"),
    (LOAD + "knots", put(0, -9.0), "must rise between"),
    (LOAD + "transform", lambda values: values[1:], "mean per atom"),
    (LOAD + "name", to("mode"), "different names"),
    (LOAD + "name", to("other"), "those of the functions"),
    (LOAD + "categories", to({"tuple": ["a"]}), "no categories"),
    ("ensemble_.basis.sensors.0.categories", to({"tuple": ["a"]}), "atom per category"),
    ("ensemble_.basis.sensors.0.shares", lambda values: values[:0], "where its values"),
    ("sensor_layout_.names", to({"tuple": ["load"]}), "those of the functions"),
    ("sensor_layout_.categories", to({"dict": []}), "Categories of sensors"),
    ("sensor_layout_", to(None), "need sensors"),
]


@pytest.mark.parametrize(
    ("name", "path", "change", "message"),
    [("plain", *case) for case in CASES]
    + [("step", *case) for case in STEP_CASES]
    + [("sensors", *case) for case in SENSOR_CASES],
)
def test_each_rule_is_kept(files, name, path, change, message):
    with pytest.raises(InvalidModelFileError, match=message):
        io.from_bytes(edit(files[name], path, change))


def test_editing_nothing_changes_nothing(files):
    for content in files.values():
        io.from_bytes(edit(content, "horizon_", lambda value: value))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "boostr rounds", "holds a boostr rounds"),
        ("model", "Popen", "known class"),
        ("model", ["BoostR"], "known class"),
        ("params", [], "must be an object"),
        ("params", {"n_trees": 3}, "n_trees are not"),
        ("params", {"n_estimators": -3}, "`n_estimators` must be"),
        ("params", {"leaf": "cubic"}, "`leaf` must be"),
        ("params", {"random_state": {"object": "Popen", "fields": {}}}, "may hold"),
        ("attributes", {}, "must have `n_features_in_`"),
        ("attributes", {"__class__": 3}, "fitting names"),
        ("attributes", {"predict": 3}, "fitting names"),
        ("extra", 1, "A model must have"),
    ],
)
def test_the_outline_is_checked(files, key, value, message):
    document, raw = read_file(files["plain"])
    with pytest.raises(InvalidModelFileError, match=message):
        io.from_bytes(write_file({**document, key: value}, raw))


def test_parameters_that_a_file_lacks_have_their_defaults(files):
    document, raw = read_file(files["plain"])
    del document["params"]["verbose"]
    assert io.from_bytes(write_file(document, raw)).verbose == 0


def test_deep_nesting_is_refused(files):
    document, raw = read_file(files["plain"])
    code = 1
    for _ in range(100):
        code = {"tuple": [code]}
    document["attributes"]["notes_"] = code
    with pytest.raises(InvalidModelFileError, match="nested so deeply"):
        io.from_bytes(write_file(document, raw))


def test_long_values_are_not_quoted_at_length(files):
    document, raw = read_file(files["plain"])
    document["params"]["loss"] = "x" * 10**6
    with pytest.raises(InvalidModelFileError) as caught:
        io.from_bytes(write_file(document, raw))
    assert len(str(caught.value)) < 1000
