"""What the ops of the ttg and ttng dialects mean, on whole tensors: layouts place elements, they do not change them.

Buffers in shared memory are bytes that views show as elements, see
:mod:`~tilewright.reference.ttg.shared_memory`; asynchronous ops take effect where they are waited for, see
:mod:`~tilewright.reference.ttg.in_flight`. What threads do to each other within an op is not modelled here: that is
the simulated GPU, :mod:`tilewright.reference.simt`.
"""
