"""The `tt` dialect: Triton IR, as Triton 3.6 to 3.9 print and parse it."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.tt.atomics import *
from tilewright.dialects.tt.block_pointer import *
from tilewright.dialects.tt.cache_policy import *
from tilewright.dialects.tt.debug import *
from tilewright.dialects.tt.descriptor import *
from tilewright.dialects.tt.dot import *
from tilewright.dialects.tt.elementwise import *
from tilewright.dialects.tt.enums import *
from tilewright.dialects.tt.function import *
from tilewright.dialects.tt.indexing import *
from tilewright.dialects.tt.memory import *
from tilewright.dialects.tt.pointer import *
from tilewright.dialects.tt.program import *
from tilewright.dialects.tt.reduction import *
from tilewright.dialects.tt.shape import *
from tilewright.dialects.tt.types import *

Atomic = AtomicCASOp | AtomicLoadOp | AtomicPollOp | AtomicRMWOp | AtomicStoreOp
"""Any op that accesses memory as one indivisible step."""

ATOMICS = (AtomicCASOp, AtomicLoadOp, AtomicPollOp, AtomicRMWOp, AtomicStoreOp)

OPS = operations_of(__name__)
"""Every op of the dialect."""

TT = Dialect("tt", OPS, [CachePolicyAttr, PointerType, TensorDescType])
"""The dialect, to be loaded into a context."""
