import pytest
from tests.io.scenes import SENSOR_SETTINGS, SETTINGS, Scene


@pytest.fixture(scope="session")
def scene():
    return Scene()


@pytest.fixture(scope="session")
def models(scene):
    """Fit each model when it is first asked for."""
    fitted = {}

    def fit(name):
        if name not in fitted:
            has_sensors = name in SENSOR_SETTINGS
            params = SENSOR_SETTINGS[name] if has_sensors else SETTINGS[name]
            fitted[name] = scene.fit(params, with_sensors=has_sensors)
        return fitted[name]

    return fit
