import subprocess
import sys

HEAVY = ["matplotlib", "pandas", "polars", "tqdm", "pyarrow", "lightgbm", "xgboost"]


def test_import_brings_nothing_heavy():
    code = f"import boostr, sys; print([name for name in {HEAVY} if name in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
