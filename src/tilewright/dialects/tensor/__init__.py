"""The tensor dialect: tensors as values."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.tensor.creation import *
from tilewright.dialects.tensor.elements import *
from tilewright.dialects.tensor.reshaping import *
from tilewright.dialects.tensor.slicing import *

OPERATIONS = operations_of(__name__)

Tensor = Dialect("tensor", OPERATIONS, [])
