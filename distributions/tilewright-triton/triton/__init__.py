"""`triton`, provided by tilewright."""

from pathlib import Path

from tilewright.compat.provided import provide

provide(Path(__file__).parent)
