"""`tl.extra.hip.libdevice` is `tl.extra.libdevice`, and has one name more."""

from tilewright.language.extra.libdevice import *  # noqa: F403
from tilewright.language.extra.libdevice import make_function

fast_tanhf = make_function("fast_tanhf", "f:tanhf:f")
