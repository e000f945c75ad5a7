"""The math dialect: functions of numbers, on scalars, vectors and tensors."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.math.floating import *
from tilewright.dialects.math.integer import *
from tilewright.dialects.math.several import *

OPERATIONS = operations_of(__name__)

Math = Dialect("math", OPERATIONS, [])
