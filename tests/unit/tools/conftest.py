"""Makes the harness modules beside the tests importable (the test run imports files by path, not by package)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
