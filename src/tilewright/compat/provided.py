"""`triton` as an installed package: what the distribution `tilewright-triton` runs when it is imported.

Its folder `triton` holds one file, which calls `provide`; its metadata are those of `triton` 3.9. Children find it as
they find any installed package, so nothing is handed on to them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tilewright import compat
from tilewright.support.errors import DistributionClashError

ONLY_FILE = "__init__.py"


def provide(folder: Path) -> None:
    """Make the package `triton`, which is being imported from `folder`, the stand-in.

    Raises DistributionClashError where the folder holds more than our file: the official package is there, too.
    """
    if others := sorted(entry.name for entry in folder.iterdir() if entry.name not in (ONLY_FILE, "__pycache__")):
        raise DistributionClashError(
            f"tilewright-triton and the official triton package are both installed in {folder} (which has {others[0]}, "
            "not ours): remove both by `pip uninstall tilewright-triton` and `pip uninstall triton`, and install the "
            "one that you want",
            name=compat.ALIAS,
            path=str(folder),
        )
    del sys.modules[compat.ALIAS]
    compat.install(children=False)
    import_module(compat.ALIAS)
