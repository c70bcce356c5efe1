"""Every public name is listed, documented with an example, and nothing else is public."""

import doctest
import importlib
import inspect

import pytest
from numpydoc.validate import validate

ROOMS = [
    "boostr",
    "boostr.baselines",
    "boostr.basis",
    "boostr.cli",
    "boostr.dask",
    "boostr.data",
    "boostr.datasets",
    "boostr.estimators",
    "boostr.exceptions",
    "boostr.inspection",
    "boostr.io",
    "boostr.metrics",
    "boostr.nonparametric",
    "boostr.plotting",
    "boostr.report",
    "boostr.reproduction",
    "boostr.simulate",
    "boostr.tuning",
]
# Met only by those who extend the package: protocols, and values that it makes itself.
INNER = {
    "Basis",
    "CalendarClock",
    "ClockedEvents",
    "ClockedPaths",
    "Ensemble",
    "FittedBasis",
    "FittedSensorBasis",
    "OperationalClock",
    "PiecewiseBasis",
    "RiskTable",
    "Sensor",
}
# Families of leaf functions: users make them, only the engine calls their methods.
FAMILIES = {"PowerBasis", "SensorBasis", "SplineBasis", "StepBasis"}
# numpydoc's codes: a missing docstring, summary, parameters, return value.
OBLIGATORY = {"GL08", "SS01", "SS03", "PR01", "PR02", "PR07", "RT03"}


def public_objects():
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            is_error = inspect.isclass(thing) and issubclass(thing, BaseException)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and not (
                is_error or name in INNER
            ):
                yield pytest.param(thing, id=f"{room}.{name}")


def methods_of(thing):
    if not inspect.isclass(thing) or thing.__name__ in FAMILIES:
        return []
    return [
        f"{thing.__module__}.{thing.__qualname__}.{name}"
        for name, value in vars(thing).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, classmethod))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_lists_are_sorted(room):
    names = [name for name in importlib.import_module(room).__all__ if name[0] != "_"]
    assert names == sorted(names)


@pytest.mark.slow
@pytest.mark.parametrize("thing", list(public_objects()))
def test_docstrings_describe_parameters_and_results(thing):
    names = [f"{thing.__module__}.{thing.__qualname__}", *methods_of(thing)]
    errors = {
        name: [error for error in validate(name)["errors"] if error[0] in OBLIGATORY]
        for name in names
    }
    assert {name: found for name, found in errors.items() if found} == {}


@pytest.mark.parametrize("thing", list(public_objects()))
def test_docstrings_hold_a_runnable_example(thing):
    assert doctest.DocTestParser().get_examples(inspect.getdoc(thing))
