"""``python -m boostr`` is the command ``boostr``."""

from __future__ import annotations

from boostr.cli import main

if __name__ == "__main__":
    main()
