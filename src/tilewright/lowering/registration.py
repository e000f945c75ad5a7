"""Importing this module registers every pass of `lowering`. A compilation imports only the passes that it runs."""

from __future__ import annotations

from tilewright.support.modules import import_modules

import_modules("tilewright.lowering", is_deep=True)
