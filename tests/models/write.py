"""Write models of this version, with inputs and what they predict: ``python -m
tests.models.write``. Files of a released version are never written again."""

import json
from pathlib import Path

import numpy as np
from tests.io.scenes import SMALL, Scene

import boostr
from boostr import BoostR

FOLDER = Path(__file__).parent
TIMES = [0.0, 1.0, 30.0, 60.0, 90.0]
N_ROWS = 12
SETTINGS = {
    "": SMALL | {"n_folds": 2, "n_estimators": 6},
    "-sensors": SMALL | {"validation": 0.3, "baseline": "power", "n_knots": 1},
}


def describe(model, scene, Z):
    """Return some individuals, and what the model says of them."""
    frame = scene.frame[:N_ROWS]
    features = model.encoder_.transform(frame)
    count = model.predict_count(frame, 10.0, 50.0, Z)
    return {
        "frame": {
            "site": frame["site"].tolist(),
            "depth": [None if np.isnan(depth) else depth for depth in frame["depth"]],
            "kind": frame["kind"].tolist(),
        },
        "sensors": None if Z is None else json.loads(Z.to_long().to_json(date_unit="ns")),
        "times": TIMES,
        "coefficients": model.ensemble_.coefficients(features).tolist(),
        "cumulative": model.predict_cumulative(frame, TIMES, Z).tolist(),
        "count": count.tolist(),
        "importances": model.feature_importances_.tolist(),
    }


def main():
    scene = Scene()
    version = ".".join(boostr.__version__.split(".")[:2])
    for name, params in SETTINGS.items():
        Z = scene.Z if name else None
        model = BoostR(**params).fit(scene.frame, scene.y, Z)
        path = FOLDER / f"boostr-{version}{name}.boostr"
        model.save(path)
        told = describe(model, scene, None if Z is None else Z[:N_ROWS])
        path.with_suffix(".boostr.json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
