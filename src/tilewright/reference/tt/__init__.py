"""What the ops of the tt dialect mean.

Where Triton leaves a value open, the same value is given at every stage, so that stages can be compared: lanes that a
load masks off without `other` are 0, as are the results of atomics that are masked off; a value outside of the bins of
a histogram is not counted; `tt.cat` puts its operands one after the other; reductions and scans go along their axis
in order (see :mod:`~tilewright.reference.tt.regions`).
"""
