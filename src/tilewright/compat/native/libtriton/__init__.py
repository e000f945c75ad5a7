"""What Triton calls `triton._C.libtriton`."""

import os

from tilewright.compat.native.libtriton import ir
from tilewright.runtime.argument_types import native_specialize_impl
from tilewright.support import knobs

__all__ = ["get_cache_invalidating_env_vars", "getenv", "getenv_bool", "ir", "native_specialize_impl"]

TRUE = {"1", "true", "on", "yes", "y"}


def getenv(name: str, default: str | None = None) -> str | None:
    """Return an environment variable."""
    return os.environ.get(name, default)


def getenv_bool(name: str, default: bool) -> bool:
    """Return whether an environment variable says yes."""
    said = os.environ.get(name)
    return default if said is None else said.lower() in TRUE


def get_cache_invalidating_env_vars() -> dict[str, str]:
    """Return the switches that change compiled code and are not at their defaults, by their variables."""
    changing = {knob.name: knob for knob in knobs.KNOBS if knob.changes_code}
    values = dict(knobs.code_key())
    return {knob.env: str(values[name]) for name, knob in changing.items() if values[name] != knob.default}
