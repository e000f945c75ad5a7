"""The `tts` dialect: structured pointers and the accesses on them."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.tts.accesses import *
from tilewright.dialects.tts.atomics import *
from tilewright.dialects.tts.masked import *
from tilewright.dialects.tts.pointers import *

TTS = Dialect("tts", operations_of(__name__))
"""The dialect, to be loaded into a context."""
