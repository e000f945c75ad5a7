"""Becomes the stand-in where a process that tilewright stands in for Triton in has started another: see
`tilewright/compat/children.py`. An interpreter without tilewright looks further for its own package."""

import sys
from importlib import import_module
from pathlib import Path

del sys.modules[__name__]
try:
    from tilewright import compat
except ImportError:
    _folder = Path(__file__).resolve().parents[1]
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != _folder]
else:
    compat.install()
import_module(__name__)
