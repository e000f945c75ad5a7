"""Asynchronous copies of CDNA4."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import refused

buffer_load_to_shared = refused("buffer_load_to_shared")
commit_group = refused("commit_group")
global_load_to_shared = refused("global_load_to_shared")
load_shared_relaxed = refused("load_shared_relaxed")
wait_group = refused("wait_group")

__all__ = ["buffer_load_to_shared", "commit_group", "global_load_to_shared", "load_shared_relaxed", "wait_group"]
