"""ttg-to-llvm: the ttg stage as LLVM IR text for NVIDIA GPUs (`lower.lower_module`).

**Values** (`values`). A tensor is a tuple of LLVM operands, one per register of the thread, in the order of the
register index of its layout. A scalar is one operand; a buffer in shared memory a `SharedValue`; a token nothing.
Operands are registers or literals. Equal elements may (and should) share an operand: `fn.each` computes a function of
registers once per distinct combination, so a splat costs one instruction, not one per register.

**Layouts** (`index`). `fn.layout(value)` is the linear map of (register, lane, warp, block) to coordinates.
`fn.threads.index.coordinates(layout)` gives, per register, the coordinate along each dimension as i32 operands;
`fn.threads.index.along(layout, "dim1")` one dimension of them. The same works for any layout from those in-dims, such
as a register layout composed with the inverse of a shared layout, whose only out-dim is the offset in shared memory.
The part that depends on the thread is computed once, in the entry block; registers differ by a constant.

**Threads** (`threads`). `fn.threads.id`, `lane`, `warp`, and `block` are i32 operands, made on first use. Several
threads may hold the same element (zero bases): `fn.threads.owner_predicate(layout)` is an i1 that holds in one of them
(None: no two do), and `distinct_registers(layout)` lists the registers that are not repeats.

**Shared memory.** `fn.shared_pointer(op)` is the address (ptr addrspace(3)) that allocation gave an op
(`allocation.offset`) plus where the function's part begins; `fn.shared_at(byte)` that of any other byte. Barriers
between ops are ops of their own (`ttg.local_barrier`); a rule that exchanges data by itself calls `fn.barrier()` in
between.

**Instructions.** `fn.text.value("add i32 %a, 1")` appends one with a result, `fn.text.emit(...)` one without; what is
hardware goes through `fn.emitter`: `fn.emitter.shuffle_xor(fn.text, x, 16)`. Literals are spelled
in place; `types.ElementType` gives the LLVM type and the zero of an element. `packing` puts elements of less than 32
bits into words and back.

**Rules.** `@lowers(OpClass)` on a function `(op, fn)`, in one file per family of ops.
"""

from tilewright.lowering.ttg_to_llvm.lower import DeviceModule, lower_module

__all__ = ["DeviceModule", "lower_module"]
