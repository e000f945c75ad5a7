"""The version of Triton that is stood in for: the switch `triton_version`."""

from __future__ import annotations

from tilewright.support import knobs


def triton_version() -> tuple[int, int]:
    """Major and minor version."""
    return _parts(knobs.get("triton_version"))


def triton_release() -> str:
    """Return it as packages write it: "3.9.0"."""
    return f"{knobs.get('triton_version')}.0"


def is_before(version: str) -> bool:
    """Is the Triton that is stood in for older than `version`?"""
    return triton_version() < _parts(version)


def _parts(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)
