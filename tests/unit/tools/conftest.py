"""Makes the harness modules beside the tests importable (the test run imports files by path, not by package)."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "kernels")]
