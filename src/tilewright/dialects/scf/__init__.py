"""The scf dialect: structured loops and conditionals."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.scf.conditionals import *
from tilewright.dialects.scf.loops import *
from tilewright.dialects.scf.terminators import *

OPERATIONS = operations_of(__name__)

Scf = Dialect("scf", OPERATIONS, [])
