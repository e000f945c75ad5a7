"""Makes the modules of this folder, and those of the corpus, importable by the tests in it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kernels")]
