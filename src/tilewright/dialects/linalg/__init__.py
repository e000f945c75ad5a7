"""The linalg dialect: loops over whole tensors or buffers, said by maps and a scalar body."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.linalg.attributes import *
from tilewright.dialects.linalg.contractions import *
from tilewright.dialects.linalg.elementwise import *
from tilewright.dialects.linalg.generic import *
from tilewright.dialects.linalg.named import *
from tilewright.dialects.linalg.structured import *
from tilewright.dialects.linalg.with_body import *

OPERATIONS = [op for op in operations_of(__name__) if op not in STANDARD_FORMS]

Linalg = Dialect("linalg", OPERATIONS, [IteratorTypeAttr, TypeFnAttr, ElementwiseKindAttr])

STRUCTURED = tuple(op for op in operations_of(__name__) if issubclass(op, StructuredOp))
"""Every class of ops that are loops over tensors or buffers, for tables by class."""
