"""Asynchronous copies of CDNA5."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import refused

commit_group = refused("commit_group")
global_to_shared = refused("global_to_shared")
mbarrier_arrive = refused("mbarrier_arrive")
shared_to_global = refused("shared_to_global")
wait_group = refused("wait_group")

__all__ = ["commit_group", "global_to_shared", "mbarrier_arrive", "shared_to_global", "wait_group"]
