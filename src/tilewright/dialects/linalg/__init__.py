"""The linalg dialect: loops over whole tensors or buffers, said by maps and a scalar body."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.linalg.attributes import *
from tilewright.dialects.linalg.generic import *
from tilewright.dialects.linalg.named import *
from tilewright.dialects.linalg.structured import *
from tilewright.dialects.linalg.with_body import *

OPERATIONS = operations_of(__name__)

Linalg = Dialect("linalg", OPERATIONS, [IteratorTypeAttr])
