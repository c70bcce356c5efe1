"""The page about model files says what the code checks."""

from dataclasses import fields
from pathlib import Path

import pytest

from boostr.io.model import MODELS
from boostr.io.values import CLASSES

PAGE = (Path(__file__).parents[2] / "docs" / "model-file.md").read_text()


def rows():
    model = MODELS["BoostR"]
    for name, rule in [*model.rules.items(), *model.later_rules.items()]:
        yield f"| `{name}` | {rule.words} |"
    for kind in CLASSES.values():
        for name, rule in [*kind.rules.items(), *kind.later.items()]:
            yield f"| `{kind.type.__name__}.{name}` | {rule.words} |"


@pytest.mark.parametrize("row", list(rows()))
def test_every_field_is_documented(row):
    assert row in PAGE.splitlines()


def test_nothing_else_is_documented():
    n_rows = sum(line.startswith("| `") and " | " in line for line in PAGE.splitlines())
    assert n_rows - len(list(rows())) == 12  # values and entries of the document


@pytest.mark.parametrize(
    "name",
    [
        "BinMapper",
        "FeatureEncoder",
        "Fingerprint",
        "ForecastLaw",
        "FrailtyLaw",
        "OperationalClock",
        "Pace",
        "PacedClock",
        "Renewal",
        "SecondScale",
        "Sensor",
        "SensorLayout",
        "Shock",
        "TerminalTie",
    ],
)
def test_every_field_of_a_class_has_a_rule(name):
    kind = CLASSES[name]
    rules = [*kind.rules, *kind.later]
    assert rules == [field.name for field in fields(kind.type) if field.init]
