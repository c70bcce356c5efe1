import pytest


@pytest.fixture
def draw_plainly(monkeypatch):
    """Draw pictures without looking for the best layout, which takes most of the time."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    save = figure.savefig

    def save_plainly(self, file, **_):
        self.set_layout_engine("none")
        save(self, file, format="png", dpi=20)

    monkeypatch.setattr(figure, "savefig", save_plainly)
