"""Makes the harness modules beside the tests, and the emulator, importable (tests are imported by path)."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "kernels")]
