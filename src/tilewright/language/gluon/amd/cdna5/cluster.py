"""Meetings of a cluster of CDNA5."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import refused

arrive = refused("arrive")
wait = refused("wait")

__all__ = ["arrive", "wait"]
