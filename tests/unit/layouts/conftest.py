"""Lets the tests of this folder import each other's shared modules."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
