"""`tl.extra.cpu.libdevice` is `tl.extra.libdevice`."""

from tilewright.language.extra.libdevice import *  # noqa: F403
