"""Files with a right checksum and a wrong content, each refused for the right reason."""

import numpy as np
import pytest
from tests.fitted import change, without_attributes
from tests.oracles_model_file import read_arrays, read_file, write_arrays, write_file

from boostr import io
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io.model import MODELS

TREES = "ensemble_.trees."
LAW = "forecast_law_."
STANDING_CLOCK = {"object": "CalendarClock", "fields": {"speed": 0.0}}


@pytest.fixture(scope="module")
def files(models):
    return {name: io.to_bytes(models(name)) for name in ("plain", "sensors", "step")}


def find(document, path):
    """Return the JSON of a field, by attributes and fields joined with dots."""
    name, *rest = path.split(".")
    # Fits of other versions may lack what is put there.
    node = document["attributes"].get(name)
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


def scale(factor):
    return lambda values: values * factor


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
    ("ensemble_.clock.log_times", scale(1e-300), "times of a clock"),
    ("ensemble_.clock.log_times", lambda values: values + 1e3, "must be usual numbers"),
    ("ensemble_.clock.log_times", lambda values: np.arange(2e4), "1 to 10000 knots"),
    ("ensemble_.clock.log_counts", scale(1e-320), "counts of a clock"),
    ("ensemble_.clock.last_slope", to(0.0), "last_slope` must be"),
    ("clock_.last_slope", to(2.5), "clock must be the ensemble's"),
    ("encoder_.names", to({"tuple": ["a", "b"]}), "the same features"),
    ("encoder_.names", to(["site", "depth", "kind"]), "tuple of text"),
    ("encoder_.categories", to({"tuple": [[1], None, [2]]}), "Every category"),
    ("encoder_.categories", to({"tuple": [[[]], None, [2]]}), "categories` must be"),
    ("encoder_.rare", to({"tuple": [None]}), "the same features"),
    ("encoder_.rare", to({"tuple": [3, None, None]}), "rare` must be"),
    ("fingerprint_.marks", lambda values: values[::-1].copy(), "Marks must rise"),
    ("fingerprint_.is_whole", to(3), "is_whole` must be"),
    ("feature_names_in_", to({"objects": ["a", "b", "c"]}), "names of the features"),
    ("n_features_in_", to(10), "the same features"),
    ("n_estimators_", to(9), "number of rounds"),
    ("sensor_layout_", to(3), "sensor_layout_` must be"),
    ("feature_gains_", lambda values: values[:1], "the same features"),
    ("out_of_fold_coefficients_", to({"array": 0}), "out_of_fold_coefficients_` must be"),
    ("frailty_variance_", to(-0.1), "frailty_variance_` must be: finite"),
    ("frailty_variance_", to({"float": "nan"}), "frailty_variance_` must be: finite"),
    ("frailty_variance_", to({"float": "inf"}), "frailty_variance_` must be: finite"),
    ("frailty_variance_", to("1"), "frailty_variance_` must be: finite"),
    ("frailty_half_life_", to(0.0), "frailty_half_life_` must be: number above 0"),
    ("frailty_half_life_", to({"float": "nan"}), "frailty_half_life_` must be"),
    ("frailty_half_life_", to({"float": "-inf"}), "frailty_half_life_` must be"),
    ("frailty_half_life_", to(10**400), "frailty_half_life_` must be"),
    ("cost_moments_", lambda values: values[:1], "cost_moments_` must be: float64"),
    ("cost_moments_", put(1, 0.0), "cost_moments_` must be: float64"),
    ("cost_moments_", put(0, np.nan), "cost_moments_` must be: float64"),
    ("cost_moments_", lambda values: values.astype(int), "must be: float64"),
    ("forecast_scores_", lambda values: values > 0.5, "must be: float64"),
    ("n_fold_models_", to(0), "n_fold_models_` must be: whole"),
    ("n_fold_models_", to(True), "n_fold_models_` must be: whole"),
    ("n_fold_models_", to(2), "Every fold must have as many models"),
    ("clock_variants_", to(None), "clock_variants_` must be: list"),
    ("clock_variants_", to([3]), "clock_variants_` must be: list"),
    ("clock_variants_", to([STANDING_CLOCK]), "finite, where curves are read"),
    ("has_costs_", to(1), "has_costs_` must be: truth value"),
    ("time_origin_", to("2024-01-01"), "time_origin_` must be: time stamp, or null"),
    ("time_origin_", to(0.0), "time_origin_` must be: time stamp, or null"),
    ("has_exposure_", to(0), "has_exposure_` must be: truth value"),
    ("ensemble_.floor", to(0.0), "floor` must be: finite number above 0, or null"),
    ("ensemble_.clock.last_rate", to(0.0), "last_rate` must be: finite number above 0"),
    ("forecast_law_", to(None), "forecast_law_` must be: ForecastLaw"),
    (LAW + "level", to(0.0), "level` must be: finite number above 0"),
    (LAW + "shock", to(1.0), "shock` must be: Shock, or null"),
    (LAW + "shock.errors", lambda values: np.append(values, 0.0), "have a variance"),
    (LAW + "shock.lead", to(0.0), "lead` must be: finite number above 0"),
    (LAW + "frailty.variance", to(-1.0), "variance` must be: finite number of at least 0"),
    (LAW + "frailty.half_life", to(0.0), "half_life` must be: number above 0"),
    (LAW + "frailty.persistence", to(1.5), "must be a share"),
    (LAW + "frailty.drifts", to(1), "drifts` must be: truth value"),
    (LAW + "paced.pace.begins", lambda values: values[::-1], "Stretches of time must rise"),
    (LAW + "paced.pace.begins", lambda values: values[:-1], "have a factor above 0"),
    (LAW + "paced.pace.factors", put(0, 0.0), "have a factor above 0"),
    (LAW + "paced.pace.factors", scale(1e-300), "have a factor above 0"),
    (LAW + "paced.clock.log_times", scale(1e-300), "times of a clock"),
    (LAW + "shock.errors", lambda values: values + 1e300, "Errors of totals"),
    (LAW + "paced.pace.factors", put(0, np.nan), "factors` must be: float64 array"),
    (LAW + "paced.clock", to(STANDING_CLOCK), "finite, where curves are read"),
]
SCORE_CASES = [
    [0.5, 0.4],
    [-0.1, 0.4],
    [0.5, 1.1],
    [0.5, np.nan],
    [[0.5], [0.6]],
]
STEP_CASES = [
    ("ensemble_.basis.edges", lambda values: values[::-1], "edges of pieces"),
    ("ensemble_.basis.edges", scale(1e-320), "edges of pieces"),
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
    (LOAD + "knots", scale(1e-320), "must rise between"),
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


@pytest.mark.parametrize("scores", SCORE_CASES)
def test_scores_are_sorted_shares(files, scores):
    content = edit_scores(files["plain"], scores)
    with pytest.raises(InvalidModelFileError, match="forecast_scores_` must be: float64"):
        io.from_bytes(content)


@pytest.mark.parametrize("scores", [[], [0.0, 0.25, 0.25, 1.0]])
def test_there_may_be_any_number_of_scores(files, scores):
    model = io.from_bytes(edit_scores(files["plain"], scores))
    assert model.forecast_scores_.tolist() == scores


def edit_scores(content, scores):
    document, raw = read_file(content)
    arrays = read_arrays(document, raw)
    document["attributes"]["forecast_scores_"] = {"array": len(arrays)}
    return write_file(*write_arrays(document, [*arrays, np.array(scores, dtype=float)]))


@pytest.mark.parametrize("name", list(MODELS["BoostR"].rules))
def test_attributes_that_are_relied_on_must_be_there(files, name):
    document, raw = read_file(files["plain"])
    del document["attributes"][name]
    with pytest.raises(InvalidModelFileError, match=f"must have `{name}`"):
        io.from_bytes(write_file(document, raw))


@pytest.mark.parametrize("origin", [None, np.datetime64("2024-01-01", "us")])
def test_what_later_versions_added_is_read_where_it_is_there(models, origin):
    model = models("plain")
    early = without_attributes(model, *MODELS["BoostR"].later_rules)
    assert early.fingerprint_ is None
    assert early.forecast_law_.frailty.drifts
    later = io.from_bytes(io.to_bytes(change(model, has_costs=True, time_origin=origin)))
    assert later.has_costs_ is True
    assert later.time_origin_ == origin


def test_fields_that_early_files_lack_have_their_defaults(files):
    document, raw = read_file(files["plain"])
    for path, name in (("clock_", "last_rate"), ("ensemble_.clock", "last_rate")):
        del find(document, path)["fields"][name]
    del find(document, "ensemble_")["fields"]["floor"]
    early = io.from_bytes(write_file(document, raw))
    assert early.clock_.last_rate is None
    assert early.ensemble_.floor is None


def test_no_time_is_no_origin(models):
    model = change(models("plain"), time_origin=np.datetime64("NaT", "us"))
    with pytest.raises(InvalidParameterError, match="time_origin_` must be: time stamp"):
        io.to_bytes(model)


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


def note(content, code):
    """Return the file with one more attribute."""
    document, raw = read_file(content)
    document["attributes"]["notes_"] = code
    return write_file(document, raw)


LONG_TEXT = {"texts": ["x" * 10**6, *[""] * 1000]}  # 4 GB, if it were an array
UNEVEN = {"texts": ["x" * 2000, *[""] * 2000]}  # 16 MB
ALIKE = [number * (2**61 - 1) for number in range(1, 20_001)]  # all have the hash 0


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ({"dict": [[number, 0] for number in ALIKE]}, "that alike"),
        ([ALIKE[:10], ALIKE[10:30]], "that alike"),
        (LONG_TEXT, "that uneven"),
        ([UNEVEN] * 20, "that uneven"),
        ([{"array": 0}, {"array": 0}], "an array of its own"),
    ],
)
def test_what_would_take_long_or_much_memory_is_refused(files, code, message):
    with pytest.raises(InvalidModelFileError, match=message):
        io.from_bytes(note(files["plain"], code))


@pytest.mark.parametrize("code", [UNEVEN, ALIKE[:16], [2**70, -(2**70)]])
def test_what_is_merely_uncommon_is_read(files, code):
    io.from_bytes(note(files["plain"], code))


def test_attributes_are_few(files):
    document, raw = read_file(files["plain"])
    document["attributes"] |= {f"note_{place}_": 0 for place in range(1000)}
    with pytest.raises(InvalidModelFileError, match="that many attributes"):
        io.from_bytes(write_file(document, raw))


def test_long_values_are_not_quoted_at_length(files):
    document, raw = read_file(files["plain"])
    document["params"]["loss"] = "x" * 10**6
    with pytest.raises(InvalidModelFileError) as caught:
        io.from_bytes(write_file(document, raw))
    assert len(str(caught.value)) < 1000
