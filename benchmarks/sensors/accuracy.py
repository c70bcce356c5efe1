"""Integrated squared error along the sensors of fresh wells, beside baselines."""

from __future__ import annotations

from benchmarks.accuracy import Score, describe_target, record_score, score_once
from benchmarks.measurements._finding import Finding
from benchmarks.problems import Target
from benchmarks.sensors._fleet import AIM, MUST_REACH, N_ACTIVE, RESULTS_FILE, Scale
from benchmarks.sensors._models import BASELINES, BOOSTR, SENSOR_MODELS


def measure(scale: Scale) -> list[Finding]:
    if "andersen-gill" not in SENSOR_MODELS:
        print("andersen-gill is left out: lifelines is not installed\n")
    target = Target(scale.problem(), scale.n_seeds, MUST_REACH, AIM)
    scores = {}
    for name in scale.models:
        runs = [_score(scale, name, seed) for seed in range(scale.n_seeds)]
        errors, seconds = zip(*runs, strict=True)
        scores[name] = Score(errors, sum(seconds))
        record_score(RESULTS_FILE, target, name, scores[name])
        print(f"{name}: {scores[name].describe()}", flush=True)
    print(f"\n{describe_target(target, scores)}", flush=True)
    if BOOSTR not in scores:
        return []
    score = scores[BOOSTR]
    reached = "met" if score.mean <= target.aim else "missed"
    note = f"s.e. {score.standard_error:.2g}; aim {target.aim:g} {reached}"
    return [
        Finding.at_most(
            "accuracy, mean integrated squared error",
            score.mean,
            "",
            target.must_reach,
            note=note,
            details={"errors": score.errors, "aim": target.aim},
        )
    ]


def _score(scale: Scale, name: str, seed: int) -> tuple[float, float]:
    """Return the mean error over fresh wells and the seconds it took."""
    if name == BOOSTR:
        fitted = scale.fit(N_ACTIVE, seed)
        return fitted.error, fitted.seconds
    return score_once(BASELINES[name], scale.problem(), seed)[:2]
