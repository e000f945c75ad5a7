"""The `ttg` dialect: TritonGPU IR, where every tensor has a layout, as Triton 3.6 prints it and 3.6 to 3.9 parse it."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.ttg.async_copy import *
from tilewright.dialects.ttg.control import *
from tilewright.dialects.ttg.conversion import *
from tilewright.dialects.ttg.encodings import *
from tilewright.dialects.ttg.indexed_access import *
from tilewright.dialects.ttg.inline_assembly import *
from tilewright.dialects.ttg.memory import *
from tilewright.dialects.ttg.shared_encodings import *
from tilewright.dialects.ttg.types import *
from tilewright.dialects.ttg.verification import *
from tilewright.dialects.ttg.views import *
from tilewright.dialects.ttg.warp_specialize import *
from tilewright.ir.verify import register_module_check

OPS = operations_of(__name__)
"""Every op of the dialect."""

ATTRIBUTES = (
    AsyncTokenType,
    BlockedEncodingAttr,
    DotOperandEncodingAttr,
    GenericLinearEncodingAttr,
    LinearEncodingAttr,
    MemDescType,
    NVMMASharedEncodingAttr,
    NvidiaMmaEncodingAttr,
    PaddedSharedEncodingAttr,
    SharedLinearEncodingAttr,
    SharedMemorySpaceAttr,
    SliceEncodingAttr,
    SwizzledSharedEncodingAttr,
)
"""Every type and attribute of the dialect."""

register_module_check(NUM_WARPS, verify_layouts)

TTG = Dialect("ttg", OPS, list(ATTRIBUTES))
"""The dialect, to be loaded into a context."""
