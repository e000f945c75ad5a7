"""`tritongpu-allocate-warp-groups`: which warps run each partition, and with how many registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import ttg
from tilewright.dialects.construction import i32_array, i32_attr, static_values
from tilewright.dialects.ttg.verification import DEFAULT_THREADS_PER_WARP, integer_attribute, program_shape
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.facts import GpuFacts, TargetFacts

TOTAL_NUM_WARPS = "ttg.total-num-warps"
MAX_REGISTERS = "ttg.maxnreg"

HOPPER = 90
WARP_GROUP = 4
MAX_WARPS = 32
REGISTER_FILE = 1 << 16
"""Registers of a multiprocessor of Hopper."""
REGISTER_STEP = 8
LEAST_REGISTERS, MOST_REGISTERS = 24, 248
"""What `setmaxnreg` takes, in steps of 8, and what a thread can name."""


@register_pass
class AllocateWarpGroupsPass(Pass):
    """Gives each partition of a `ttg.warp_specialize` its warps, after those of the kernel: the largest first, so that
    partitions of four warps are whole warp groups.

    Before:
    ```mlir
    module attributes {"ttg.num-warps" = 4 : i32} {
      ttg.warp_specialize(%a) attributes {requestedRegisters = array<i32: 24, 168>} default { ... }
      partition0(%p: i32) num_warps(1) { ... } partition1(%q: i32) num_warps(4) { ... } : (i32) -> ()
    ```
    After: partition 0 has warp 8, partition 1 warps 4 to 7; warps 9 to 11 have nothing to do. Registers that partitions
    leave go to the kernel's own warps, which `actualRegisters` lists first.
    ```mlir
    module attributes {ttg.maxnreg = 168 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 12 : i32} {
      ttg.warp_specialize(%a) attributes {actualRegisters = array<i32: 248, 24, 168>, ...,
                                          warpGroupStartIds = array<i32: 8, 4>} default { ... }
    ```
    Raises PassError where a program would have more than 32 warps, or its partitions more registers than there are.
    """

    name = "tritongpu-allocate-warp-groups"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        specialized = [op for op in ops_within(module) if isinstance(op, ttg.WarpSpecializeOp)]
        shape = program_shape(module)
        if not specialized:
            return
        if shape is None:
            context.fail(module, "not TritonGPU IR: the module does not state ttg.num-warps")
        total = max(_place(op, shape.warps) for op in specialized)
        if total > MAX_WARPS:
            reason = (
                f"its partitions and the {shape.warps} warps of the kernel are {total} warps; a CTA has {MAX_WARPS}"
            )
            raise op_error(specialized[0], reason, pass_name=self.name)
        module.attributes[TOTAL_NUM_WARPS] = i32_attr(total)
        asking = [op for op in specialized if op.requested_registers is not None]
        if asking and not shape.warps % WARP_GROUP and _shares_registers(context.facts):
            most = REGISTER_FILE // (DEFAULT_THREADS_PER_WARP * total)
            given = min(integer_attribute(module, MAX_REGISTERS) or MOST_REGISTERS, most, MOST_REGISTERS)
            given -= given % REGISTER_STEP
            module.attributes[MAX_REGISTERS] = i32_attr(given)
            for op in asking:
                _share_registers(op, shape.warps, total, given)


def _shares_registers(facts: TargetFacts | None) -> bool:
    return not isinstance(facts, GpuFacts) or facts.capability >= HOPPER


def _place(op: ttg.WarpSpecializeOp, first: int) -> int:
    """Sets where the partitions start; returns how many warps there are then, in whole warp groups."""
    starts = [0] * len(op.num_warps)
    end = first
    for index in sorted(range(len(starts)), key=lambda index: -op.num_warps[index]):
        count = op.num_warps[index]
        starts[index] = round_up(end, min(count, WARP_GROUP))
        end = starts[index] + count
    op.properties["warpGroupStartIds"] = i32_array(tuple(starts))
    return round_up(end, WARP_GROUP) if starts else end


def round_up(count: int, step: int) -> int:
    """The smallest multiple of `step` that is not below `count`."""
    return -(-count // step) * step


def groups_of(start: int, count: int) -> range:
    """The warp groups that the warps from `start` on lie in."""
    return range(start // WARP_GROUP, (start + count - 1) // WARP_GROUP + 1)


def _share_registers(op: ttg.WarpSpecializeOp, first: int, total: int, given: int) -> None:
    """Sets the registers of a thread of the kernel's warps, and of each partition: all that share a warp group have
    what the one that asks for most asks for."""
    assert op.requested_registers is not None and op.warp_group_start_ids is not None
    asked = static_values(op.requested_registers)
    places = [groups_of(*place) for place in zip(static_values(op.warp_group_start_ids), op.num_warps, strict=True)]
    by_group = dict.fromkeys(range(first // WARP_GROUP, total // WARP_GROUP), LEAST_REGISTERS)
    for groups, count in zip(places, asked, strict=True):
        for group in groups:
            by_group[group] = max(by_group[group], min(round_up(count, REGISTER_STEP), MOST_REGISTERS))
    left = (given * (total // WARP_GROUP) - sum(by_group.values())) // (first // WARP_GROUP)
    left = min(left - left % REGISTER_STEP, MOST_REGISTERS)
    if left < LEAST_REGISTERS:
        reason = (
            f"its partitions ask for {_listed(asked)} registers, of {given} per thread: nothing is left for the rest"
        )
        raise op_error(op, reason, pass_name=AllocateWarpGroupsPass.name)
    actual = [max(by_group[group] for group in groups) for groups in places]
    op.properties["actualRegisters"] = i32_array((left, *actual))


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts))
