"""Where the elements of a tensor live, as mathematics: layouts are linear maps over GF(2). No IR, no target.

`linear.LinearLayout` is the one representation; `distributed` and `shared` give it for every encoding of registers
and of shared memory; `convert` plans how elements move from one layout to another; `banks` counts shared-memory
conflicts; `draw` makes pictures.
"""
