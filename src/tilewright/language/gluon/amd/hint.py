"""Hints to the scheduler of AMD's compiler."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import refused

sched_barrier = refused("sched_barrier")

__all__ = ["sched_barrier"]
