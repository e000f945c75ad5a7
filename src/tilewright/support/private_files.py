"""Reading files that nobody else can have written: what they hold is executed.

A folder or file is trusted when it belongs to this user or to root and neither the group nor everybody may write to it.
Links, pipes and devices are no files of ours; opening one neither waits nor reads.
"""

from __future__ import annotations

import os
import stat
from errno import ENOTDIR
from pathlib import Path

from tilewright.support.errors import TilewrightError

ROOT_USER = 0

_OPENING = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class DistrustedError(TilewrightError):
    """A file or folder that somebody else may have written; the message says why, and what to do about it."""


def check_folder(folder: Path, *, may_be_link: bool = False) -> None:
    """Raises DistrustedError for a folder that others can write, FileNotFoundError and other OSErrors where there is
    none. `may_be_link` follows the user's own link to it."""
    found = folder.stat() if may_be_link else folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise DistrustedError(f"{folder} is a link; remove it")
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(folder))
    _check_owner(folder, found)


def read_file(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and what is known of it. Raises DistrustedError for one that others can write, for
    links, pipes and devices, and for more than `limit` bytes; OSError where there is none."""
    if path.is_symlink():
        raise DistrustedError(f"{path} is a link; remove it")
    with os.fdopen(os.open(path, os.O_RDONLY | _OPENING), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise DistrustedError(f"{path} is not a regular file; remove it")
        _check_owner(path, found)
        if found.st_size > limit:
            raise DistrustedError(f"{path} has {found.st_size} bytes, more than the {limit} of any entry; remove it")
        return file.read(limit), found


def _check_owner(path: Path, found: os.stat_result) -> None:
    if not hasattr(os, "geteuid"):
        return
    user = os.geteuid()
    if found.st_uid not in (user, ROOT_USER):
        raise DistrustedError(
            f"{path} belongs to user {found.st_uid}, not to user {user}, who runs this process; remove it, or give "
            f"it to that user (chown {user})"
        )
    others = "everybody" if found.st_mode & stat.S_IWOTH else "its group"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DistrustedError(f"{path} can be written by {others}; take that away (chmod go-w)")
