"""The `ttng` dialect: what NVIDIA's Hopper GPUs add to TritonGPU IR, as Triton prints and parses it."""

from xdsl.ir import Dialect

from tilewright.dialects.fields import operations_of
from tilewright.dialects.ttng.barriers import *
from tilewright.dialects.ttng.clusters import *
from tilewright.dialects.ttng.matrix import *
from tilewright.dialects.ttng.tensor_descriptors import *
from tilewright.dialects.ttng.tensor_memory_accelerator import *

OPS = operations_of(__name__)
"""Every op of the dialect."""

TTNG = Dialect("ttng", OPS, [TensorDescIm2ColType])
"""The dialect, to be loaded into a context."""
