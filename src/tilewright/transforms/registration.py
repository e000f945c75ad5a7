"""Importing this module registers every pass of `transforms`. A compilation imports only the passes that it runs."""

from __future__ import annotations

from tilewright.support.modules import import_modules

import_modules("tilewright.transforms", is_deep=True)
