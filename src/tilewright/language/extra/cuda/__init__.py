"""What only NVIDIA GPUs have: special registers, of which other targets report a clear error, and dependent launches,
for which nothing has to be done where programs run one after another."""

from tilewright.language.extra import libdevice
from tilewright.language.extra.cuda import gdc as gdc
from tilewright.language.extra.cuda import utils as utils
from tilewright.language.extra.cuda.gdc import gdc_launch_dependents, gdc_wait
from tilewright.language.extra.cuda.utils import globaltimer, num_threads, num_warps, smid

__all__ = [
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "libdevice",
    "num_threads",
    "num_warps",
    "smid",
]
