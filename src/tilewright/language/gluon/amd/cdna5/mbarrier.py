"""Barriers in shared memory of CDNA5."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import OfAmd, refused


class MBarrierLayout(OfAmd):
    """The layout of such barriers."""


arrive = refused("arrive")
init = refused("init")
wait = refused("wait")

__all__ = ["MBarrierLayout", "arrive", "init", "wait"]
