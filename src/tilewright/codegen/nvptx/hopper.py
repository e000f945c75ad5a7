"""Hopper's additions: barriers in shared memory, bulk copies of boxes (TMA), warp-group matmuls (`wgmma`), clusters.

Addresses of shared memory are `ptr addrspace(3)`, descriptors of tensors generic `ptr`. Predicates are i1 operands,
None for always. Everything here has an effect that LLVM does not see, so each instruction clobbers memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.inline_asm import inline_asm
from tilewright.support.records import dataclass

SHARED_POINTER, GENERIC_POINTER = "ptr addrspace(3)", "ptr"
Operands = list[tuple[str, str]]

MAP_BYTES = 128
MAP_SPACE = "shared::cta.b1024"


@dataclass(frozen=True)
class WarpGroupShape:
    """One form of `wgmma`: 64 rows, `n` columns, depth `k`; PTX types of result, A and B."""

    n: int
    k: int
    result: str
    a: str
    b: str

    @property
    def opcode(self) -> str:
        """``wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16``"""
        return f"wgmma.mma_async.sync.aligned.m64n{self.n}k{self.k}.{self.result}.{self.a}.{self.b}"

    @property
    def has_order(self) -> bool:
        """True if operands may be contiguous along M or N: 16-bit types only."""
        return self.a in ("f16", "bf16")

    @property
    def accumulator(self) -> tuple[str, str]:
        """LLVM type and constraint letter of an accumulator register."""
        return ("float", "f") if self.result == "f32" else ("i32", "r")


LATER = (
    ".reg .b32 zero, where;\nmov.u32 zero, %ctaid.x;\nshr.u32 zero, zero, 31;\n"
    "and.b32 zero, zero, $1;\nor.b32 where, $0, zero;\n"
)
"""The number $0 of a barrier, once $1 is there: combined with a 0 that ptxas does not know (CTAs are fewer than 2^31),
as it moves arithmetic across barriers that need nothing of it.
"""


def guard(predicate: str | None, operands: Operands, constraints: list[str]) -> str:
    """The text before a predicated instruction; its operand and constraint are appended."""
    if predicate is None:
        return ""
    operands.append(("i1", predicate))
    constraints.append("b")
    return f"@${len(operands) - 1} "


class BarrierInstructions:
    """Barriers in shared memory (`mbarrier`), fences, clusters, grids that depend on others."""

    facts: NvptxFacts

    def grid_dependency(self, text: FunctionText, what: str) -> None:
        """`griddepcontrol.wait;` or `.launch_dependents;`; nothing before compute capability 9.0, which starts no grid
        early."""
        if self.facts.capability >= 90:
            inline_asm(text, f"griddepcontrol.{what};", "", [], [], clobbers_memory=True)

    def _on_barrier(self, text: FunctionText, asm: str, barrier: str, predicate: str | None) -> None:
        """One instruction on a barrier, whose address is $0 in `asm`."""
        operands, constraints = [(SHARED_POINTER, barrier)], ["r"]
        before = guard(predicate, operands, constraints)
        inline_asm(text, f"{before}{asm}", ",".join(constraints), [], operands, clobbers_memory=True)

    def init_barrier(self, text: FunctionText, barrier: str, count: int, predicate: str | None) -> None:
        """A barrier whose phases complete after `count` arrivals."""
        self._on_barrier(text, f"mbarrier.init.shared::cta.b64 [$0], {count};", barrier, predicate)

    def invalidate_barrier(self, text: FunctionText, barrier: str, predicate: str | None) -> None:
        """The end of a barrier."""
        self._on_barrier(text, "mbarrier.inval.shared::cta.b64 [$0];", barrier, predicate)

    def expect_bytes(self, text: FunctionText, barrier: str, size: int, predicate: str | None) -> None:
        """Arrive, and expect `size` bytes of bulk copies in this phase."""
        self._on_barrier(text, f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {size};", barrier, predicate)

    def arrive(self, text: FunctionText, barrier: str, count: int, predicate: str | None) -> None:
        """Count arrivals."""
        self._on_barrier(text, f"mbarrier.arrive.shared::cta.b64 _, [$0], {count};", barrier, predicate)

    def arrive_after_copies(self, text: FunctionText, barrier: str, *, counted: bool) -> None:
        """Arrive once the thread's `cp.async` copies so far are done; the barrier expects a `counted` arrival."""
        form = "noinc.shared::cta.b64" if counted else "shared::cta.b64"
        self._on_barrier(text, f"cp.async.mbarrier.arrive.{form} [$0];", barrier, None)

    def wait_barrier(
        self, text: FunctionText, barrier: str, phase: str, predicate: str | None, *, of_cluster: bool = False
    ) -> None:
        """Wait until the phase of this parity is complete; `of_cluster`, also for what other CTAs did."""
        operands, constraints = [(SHARED_POINTER, barrier), ("i32", phase)], ["r", "r"]
        skip = ""
        if predicate is not None:
            operands.append(("i1", predicate))
            constraints.append("b")
            skip = "@!$2 bra.uni done;\n"
        asm = (
            "{\n.reg .pred complete;\n"
            f"{skip}again:\n"
            f"mbarrier.try_wait.parity{'.acquire.cluster' if of_cluster else ''}.shared::cta.b64 complete, [$0], $1;\n"
            "@!complete bra.uni again;\n"
            f"{'done:' if skip else ''}\n}}"
        )
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def fence_async_shared(self, text: FunctionText, *, cluster: bool) -> None:
        """Ordinary writes to shared memory become visible to copies and matmuls that are started later."""
        scope = "cluster" if cluster else "cta"
        inline_asm(text, f"fence.proxy.async.shared::{scope};", "", [], (), clobbers_memory=True)

    def elect(self, text: FunctionText) -> str:
        """An i1 that holds in one lane of the warp."""
        asm = "{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.b32 $0, 1, 0, one;\n}"
        chosen = inline_asm(text, asm, "=r", ["i32"], ())[0]
        return text.icmp("ne", "i32", chosen, 0)

    def set_registers(self, text: FunctionText, before: int, count: int) -> None:
        """Change how many registers the threads of the warp group have; who takes more waits until others gave some."""
        if before != count:
            direction = "inc" if before < count else "dec"
            text.call("void", f"llvm.nvvm.setmaxnreg.{direction}.sync.aligned.u32", (("i32", str(count)),))

    def wait_at(
        self, text: FunctionText, identifier: str, num_threads: int, after: str, predicate: str | None = None
    ) -> None:
        """Wait at one of the 16 barriers of the CTA, once the i32 `after` is there."""
        operands, constraints = [("i32", identifier), ("i32", after)], ["r", "r"]
        before = guard(predicate, operands, constraints)
        asm = f"{{\n{LATER}{before}barrier.cta.sync.aligned where, {num_threads};\n}}"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def arrive_at(self, text: FunctionText, identifier: str, num_threads: int, predicate: str, after: str) -> None:
        """Arrive at one of them without waiting."""
        asm = f"{{\n{LATER}@$2 barrier.cta.arrive.aligned where, {num_threads};\n}}"
        operands = [("i32", identifier), ("i32", after), ("i1", predicate)]
        inline_asm(text, asm, "r,r,b", [], operands, clobbers_memory=True)

    def cluster_arrive(self, text: FunctionText, *, relaxed: bool) -> None:
        """Arrive at the barrier of the cluster."""
        order = ".relaxed" if relaxed else ""
        inline_asm(text, f"barrier.cluster.arrive{order}.aligned;", "", [], (), clobbers_memory=True)

    def fence_barrier_init(self, text: FunctionText) -> None:
        """Barriers that were initialised become visible to the other CTAs, with the next barrier of the cluster."""
        inline_asm(text, "fence.mbarrier_init.release.cluster;", "", [], (), clobbers_memory=True)

    def cluster_wait(self, text: FunctionText) -> None:
        """Wait for all threads of the cluster."""
        inline_asm(text, "barrier.cluster.wait.aligned;", "", [], (), clobbers_memory=True)


class ClusterInstructions:
    """Shared memory of the other CTAs of a cluster, at addresses that are i32 numbers."""

    def address_in_cta(self, text: FunctionText, pointer: str, rank: str) -> str:
        """The address of the same byte in the memory of another CTA."""
        asm = "mapa.shared::cluster.u32 $0, $1, $2;"
        operands = [(SHARED_POINTER, pointer), ("i32", rank)]
        return inline_asm(text, asm, "=r,r,r", ["i32"], operands, has_effect=False)[0]

    def arrive_in_cta(self, text: FunctionText, address: str, count: int, predicate: str | None) -> None:
        """Count arrivals at a barrier at an address of `address_in_cta`."""
        asm = f"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0], {count};"
        self._on_remote(text, asm, address, predicate)

    def expect_bytes_in_cta(self, text: FunctionText, address: str, size: int, predicate: str | None) -> None:
        """Arrive there, and expect `size` bytes of bulk copies in this phase."""
        asm = f"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], {size};"
        self._on_remote(text, asm, address, predicate)

    def _on_remote(self, text: FunctionText, asm: str, address: str, predicate: str | None) -> None:
        operands, constraints = [("i32", address)], ["r"]
        before = guard(predicate, operands, constraints)
        inline_asm(text, f"{before}{asm}", ",".join(constraints), [], operands, clobbers_memory=True)

    def store_to_cta(
        self, text: FunctionText, address: str, words: Sequence[str], word_bits: int, predicate: str | None
    ) -> None:
        """Store words of 8 to 64 bits at an address of `address_in_cta`, or some bytes further."""
        count = len(words)
        if word_bits == 8:
            words, word_bits, kind, letter = [text.cast("zext", "i8", words[0], "i32")], 32, "u8", "r"
        else:
            kind, letter = f"b{word_bits}", {16: "h", 32: "r", 64: "l"}[word_bits]
        operands = [("i32", address), *((f"i{word_bits}", word) for word in words)]
        constraints = ["r", *[letter] * count]
        before = guard(predicate, operands, constraints)
        registers = ", ".join(f"${index + 1}" for index in range(count))
        form, registers = ("", registers) if count == 1 else (f".v{count}", f"{{{registers}}}")
        asm = f"{before}st.shared::cluster{form}.{kind} [$0], {registers};"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def store_async(
        self,
        text: FunctionText,
        address: str,
        words: Sequence[str],
        word_bits: int,
        barrier: str,
        predicate: str | None,
    ) -> None:
        """Store words of 32 or 64 bits, 128 bits at most, at an address of `address_in_cta`; the barrier at another
        address there counts their bytes."""
        count = len(words)
        operands = [("i32", address), *((f"i{word_bits}", word) for word in words), ("i32", barrier)]
        constraints = ["r", *["r" if word_bits == 32 else "l"] * count, "r"]
        before = guard(predicate, operands, constraints)
        registers = ", ".join(f"${index + 1}" for index in range(count))
        form, registers = ("", registers) if count == 1 else (f".v{count}", f"{{{registers}}}")
        name = f"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{form}.b{word_bits}"
        asm = f"{before}{name} [$0], {registers}, [${count + 1}];"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def load_from_cta(self, text: FunctionText, address: str, word_bits: int, count: int) -> list[str]:
        """`count` words of 8 to 64 bits at an address of `address_in_cta`, or some bytes further."""
        if word_bits == 8:
            asm = "ld.shared::cluster.u8 $0, [$1];"
            [word] = inline_asm(text, asm, "=r,r", ["i32"], [("i32", address)], clobbers_memory=True)
            return [text.cast("trunc", "i32", word, "i8")]
        letter = {16: "h", 32: "r", 64: "l"}[word_bits]
        registers = ", ".join(f"${index}" for index in range(count))
        form, registers = ("", registers) if count == 1 else (f".v{count}", f"{{{registers}}}")
        asm = f"ld.shared::cluster{form}.b{word_bits} {registers}, [${count}];"
        constraints = ",".join([f"={letter}"] * count + ["r"])
        return inline_asm(text, asm, constraints, [f"i{word_bits}"] * count, [("i32", address)], clobbers_memory=True)


class BulkCopyInstructions:
    """Copies of boxes between global and shared memory, and tensor maps made by a kernel."""

    facts: NvptxFacts

    def load_box(
        self,
        text: FunctionText,
        target: str,
        tensor_map: str,
        coordinates: Sequence[str],
        barrier: str,
        *,
        predicate: str,
        evict: str = "",
        offsets: Sequence[str] = (),
        mask: str | None = None,
    ) -> None:
        """Start copying the box at `coordinates` (innermost first); the barrier counts its bytes. With `offsets` (i16
        operands, innermost first), pixels at these from the coordinates. With a `mask` (an i16 operand), the same is
        done in each CTA of the cluster whose bit is set."""
        places = ", ".join(f"${3 + axis}" for axis in range(len(coordinates)))
        operands: Operands = [(SHARED_POINTER, target), (GENERIC_POINTER, tensor_map), (SHARED_POINTER, barrier)]
        operands += [("i32", coordinate) for coordinate in coordinates]
        first = 3 + len(coordinates)
        moves = f", {{{', '.join(f'${first + axis}' for axis in range(len(offsets)))}}}" if offsets else ""
        operands += [("i16", offset) for offset in offsets]
        constraints = ["r", "l", "r", *["r"] * len(coordinates), *["h"] * len(offsets)]
        multicast = ""
        if mask is not None:
            multicast, moves = ".multicast::cluster", f"{moves}, ${len(operands)}"
            operands.append(("i16", mask))
            constraints.append("h")
        before = guard(predicate, operands, constraints)
        mode = ".im2col" if offsets else ""
        form = (
            f"cp.async.bulk.tensor.{len(coordinates)}d.shared::cluster.global{mode}"
            f".mbarrier::complete_tx::bytes{multicast}"
        )
        asm = f"{before}{form} [$0], [$1, {{{places}}}], [$2]{moves};"
        if evict:
            create = f"{{ .reg .b64 policy; createpolicy.fractional.L2::{evict}.b64 policy, 1.0;"
            asm = f"{create} {before}{form}.L2::cache_hint [$0], [$1, {{{places}}}], [$2]{moves}, policy; }}"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def prefetch_box(self, text: FunctionText, tensor_map: str, coordinates: Sequence[str], predicate: str) -> None:
        """Have the L2 cache fetch the box at `coordinates` (innermost first)."""
        places = ", ".join(f"${1 + axis}" for axis in range(len(coordinates)))
        operands: Operands = [(GENERIC_POINTER, tensor_map), *(("i32", coordinate) for coordinate in coordinates)]
        constraints = ["l", *["r"] * len(coordinates)]
        before = guard(predicate, operands, constraints)
        asm = f"{before}cp.async.bulk.prefetch.tensor.{len(coordinates)}d.L2.global.tile [$0, {{{places}}}];"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def store_box(
        self,
        text: FunctionText,
        source: str,
        tensor_map: str,
        coordinates: Sequence[str],
        *,
        predicate: str,
        reduction: str = "",
    ) -> None:
        """Start copying a box out of shared memory, or combining it into memory (`add`, `min`, ...)."""
        places = ", ".join(f"${2 + axis}" for axis in range(len(coordinates)))
        operands: Operands = [(GENERIC_POINTER, tensor_map), (SHARED_POINTER, source)]
        operands += [("i32", coordinate) for coordinate in coordinates]
        constraints = ["l", "r", *["r"] * len(coordinates)]
        before = guard(predicate, operands, constraints)
        verb, kind = ("cp.reduce", f".{reduction}") if reduction else ("cp", "")
        form = f"{verb}.async.bulk.tensor.{len(coordinates)}d.global.shared::cta{kind}.tile.bulk_group"
        asm = f"{before}{form} [$0, {{{places}}}], [$1];"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def commit_stores(self, text: FunctionText) -> None:
        """The thread's stores of boxes since the last commit become one group."""
        inline_asm(text, "cp.async.bulk.commit_group;", "", [], (), clobbers_memory=True)

    def wait_stores(self, text: FunctionText, pending: int, *, read_only: bool) -> None:
        """Wait until at most `pending` of the thread's groups are under way, or still read shared memory."""
        form = ".read" if read_only else ""
        inline_asm(text, f"cp.async.bulk.wait_group{form} {pending};", "", [], (), clobbers_memory=True)

    def replace_field(
        self, text: FunctionText, tensor_map: str, field: str, value: str, type: str, predicate: str, ordinal: int = -1
    ) -> None:
        """Set a field of a tensor map in shared memory, one of several with an ordinal; an immediate has type ""."""
        operands: Operands = [("i64", _wide_address(text, tensor_map))]
        constraints = ["l"]
        position = f" {ordinal}," if ordinal >= 0 else ""
        shown = value
        if type:
            operands.append((type, value))
            constraints.append("r" if type == "i32" else "l")
            shown = "$1"
        before = guard(predicate, operands, constraints)
        width = "b32" if type in ("", "i32") else "b64"
        asm = f"{before}tensormap.replace.tile.{field}.{MAP_SPACE}.{width} [$0],{position} {shown};"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def publish_map(self, text: FunctionText, target: str, source: str, predicate: str) -> None:
        """Copy a tensor map from shared to global memory (whole warps) so that `acquire_map` sees it."""
        asm = (
            "@$2 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
            f"[$0], [$1], {MAP_BYTES};"
        )
        operands = [("ptr addrspace(1)", target), ("i64", _wide_address(text, source)), ("i1", predicate)]
        inline_asm(text, asm, "l,l,b", [], operands, clobbers_memory=True)

    def acquire_map(self, text: FunctionText, tensor_map: str) -> None:
        """Copies that are started later use the tensor map as it is in memory now."""
        asm = f"fence.proxy.tensormap::generic.acquire.gpu [$0], {MAP_BYTES};"
        inline_asm(text, asm, "l", [], [("ptr addrspace(1)", tensor_map)], clobbers_memory=True)


FRAGMENT_WORDS = 4
"""Words of A's fragment that a thread passes to one instruction."""


class WarpGroupInstructions:
    """Asynchronous matmuls of four warps (`wgmma`)."""

    facts: NvptxFacts

    def group_fence(self, text: FunctionText) -> None:
        """Register and shared memory accesses so far come before the products that are started later."""
        inline_asm(text, "wgmma.fence.sync.aligned;", "", [], (), clobbers_memory=True)

    def group_commit(self, text: FunctionText) -> None:
        """The products started since the last commit become one group."""
        inline_asm(text, "wgmma.commit_group.sync.aligned;", "", [], (), clobbers_memory=True)

    def group_mma(
        self,
        text: FunctionText,
        shape: WarpGroupShape,
        a: Sequence[str],
        b: str,
        c: Sequence[str],
        *,
        uses_c: str,
        orders: tuple[int, int],
    ) -> list[str]:
        """Start ``a @ b`` on accumulators `c`; returns the registers that will hold the sum.

        `a` is four i32 words of the tile's fragment, or one i64 descriptor; `b` is a descriptor. `uses_c` is an i1:
        where it is false the sum starts from zero. `orders` are 1 for an operand that is contiguous along M or N.
        """
        type, letter = shape.accumulator
        count = len(c)
        results = ", ".join(f"${index}" for index in range(count))
        operands: Operands = [(type, register) for register in c]
        constraints = [f"={letter}"] * count + [str(index) for index in range(count)]
        position = 2 * count
        if len(a) == 1:
            operands.append(("i64", a[0]))
            constraints.append("l")
            shown = f"${position}"
        else:
            operands += [("i32", word) for word in a]
            constraints += ["r"] * len(a)
            shown = "{" + ", ".join(f"${position + index}" for index in range(len(a))) + "}"
        position += len(a)
        operands += [("i64", b), ("i1", uses_c)]
        constraints += ["l", "b"]
        tail = "" if shape.result == "s32" else ", 1, 1"
        if shape.has_order:
            tail += "".join(f", {order}" for order in (orders if len(a) == 1 else orders[1:]))
        asm = f"{shape.opcode} {{{results}}}, {shown}, ${position}, ${position + 1}{tail};"
        return inline_asm(text, asm, ",".join(constraints), [type] * count, operands)

    def group_wait(self, text: FunctionText, pending: int, registers: Sequence[tuple[str, str]]) -> list[str]:
        """Wait until at most `pending` groups are under way; returns the registers (type, operand) as they are then."""
        letters = {"float": "f", "i32": "r"}
        outputs = [f"={letters[type]}" for type, _ in registers]
        inputs = [str(index) for index in range(len(registers))]
        asm = f"wgmma.wait_group.sync.aligned {pending};"
        types = [type for type, _ in registers]
        return inline_asm(text, asm, ",".join([*outputs, *inputs]), types, registers, clobbers_memory=True)

    def hold_registers(self, text: FunctionText, words: Sequence[str]) -> None:
        """Use registers that products read (i32 words, those of one fragment after the other) where `group_wait` says
        that these are done: ptxas gives them to nothing else before. No thread executes the stores: no launch has that
        much shared memory, which ptxas does not know.
        """
        [size] = inline_asm(text, "mov.u32 $0, %dynamic_smem_size;", "=r", ["i32"], (), has_effect=False)
        never = text.icmp("eq", "i32", size, -1)
        for start in range(0, len(words), FRAGMENT_WORDS):
            fragment = [("i32", word) for word in words[start : start + FRAGMENT_WORDS]]
            asm = "@$0 st.shared.v4.b32 [$1], {$2, $3, $4, $5};"
            inline_asm(text, asm, "b,r,r,r,r,r", [], [("i1", never), ("i32", "0"), *fragment], clobbers_memory=True)


def _wide_address(text: FunctionText, pointer: str) -> str:
    narrow = text.cast("ptrtoint", SHARED_POINTER, pointer, "i32")
    return text.cast("zext", "i32", narrow, "i64")
