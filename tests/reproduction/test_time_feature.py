from boostr.baselines import HistGradientBoostingTime
from boostr.reproduction import _models as _time_feature
from boostr.reproduction._models import (
    find_library,
    make_time_model,
    name_ad_hoc,
    say_library,
)


def test_without_xgboost_another_library_stands_in_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(_time_feature, "find_spec", lambda name: None)
    assert find_library() == "HistGB"
    assert "XGBoost is not installed" in say_library()
    assert name_ad_hoc().startswith("HistGB")
    assert isinstance(make_time_model(0.3, 10, 0), HistGradientBoostingTime)


def test_with_xgboost_nothing_stands_in(monkeypatch):
    monkeypatch.setattr(_time_feature, "find_spec", lambda name: name)
    assert find_library() == "XGBoost"
    assert say_library() == ""
    assert make_time_model(0.5, 10, 0).learning_rate == 0.5
