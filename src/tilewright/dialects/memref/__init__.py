"""The memref dialect: buffers, views of them, and access to their elements."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.memref.access import *
from tilewright.dialects.memref.allocation import *
from tilewright.dialects.memref.atomic_kind import *
from tilewright.dialects.memref.metadata import *
from tilewright.dialects.memref.prefetch import *
from tilewright.dialects.memref.views import *

OPERATIONS = operations_of(__name__)

MemRef = Dialect("memref", OPERATIONS, [])
