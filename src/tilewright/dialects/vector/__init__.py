"""The vector dialect: values of a machine's vector registers, and memory access with them."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.vector.attributes import *
from tilewright.dialects.vector.compute import *
from tilewright.dialects.vector.elements import *
from tilewright.dialects.vector.memory import *
from tilewright.dialects.vector.shapes import *
from tilewright.dialects.vector.transfer import *

OPERATIONS = operations_of(__name__)

Vector = Dialect("vector", OPERATIONS, [CombiningKindAttr, PunctuationAttr])
