"""What only AMD's GPUs have. There is no target for them: programs that import these names run, the device library and
the sizes are those of every target.
"""

from tilewright.language.extra.hip import libdevice
from tilewright.language.extra.hip import utils as utils
from tilewright.language.extra.hip.utils import memrealtime, num_threads, num_warps, smid

__all__ = ["libdevice", "memrealtime", "num_threads", "num_warps", "smid"]
