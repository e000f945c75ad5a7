"""What the machine can do: copy and read bandwidth by footprint, and the peak of multiply-adds in f32 and bf16.

Plain LLVM loops, compiled for the host; copies in ordinary and in non-temporal form, of which the faster counts. With
several threads each works on its own part, and the time is that of all.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.llvm_backend import Effort, ObjectLoader, compile_text
from tilewright.support.facts import TargetFacts
from tilewright.targets.cpu.facts import CpuFacts
from tilewright.targets.cpu.target import make_target

MIB = 1 << 20
FOOTPRINTS = (MIB, 12 * MIB, 64 * MIB, 192 * MIB)
"""Bytes read and written by the copies that are timed: second-level cache, last level, memory."""

ACCUMULATORS = 12
MACHINE_SECONDS = 0.02


@dataclass(frozen=True)
class Limits:
    """GB/s (bytes read plus bytes written) at each footprint, GFLOP/s by type."""

    threads: int
    copy: dict[int, float]
    read: dict[int, float]
    peak: dict[str, float]

    def seconds(self, read: float, written: float, operations: float, kind: str) -> float:
        """The least time for that much traffic and that many operations, were they to overlap."""
        bandwidth = self.read if written < 0.05 * read else self.copy
        footprint = next((size for size in FOOTPRINTS if size >= 0.75 * (read + written)), FOOTPRINTS[-1])
        return max((read + written) / bandwidth[footprint], operations / self.peak[kind]) / 1e9


def measure_limits(threads: int) -> Limits:
    """Measure all limits with that many threads."""
    facts = make_target().facts
    machine = _Machine(facts, threads)
    copies = {size: max(machine.copy(size, streamed=streamed) for streamed in (False, True)) for size in FOOTPRINTS}
    reads = {size: machine.read(size) for size in FOOTPRINTS}
    f32 = machine.rate("fma", ACCUMULATORS * 2 * facts.vector_bits // 32)
    bf16 = f32
    if facts.has("avx512bf16"):
        bf16 = max(bf16, machine.rate("bf16", ACCUMULATORS * 4 * facts.vector_bits // 32))
    if facts.has("amx-bf16"):
        bf16 = max(bf16, machine.rate("amx", 4 * 2 * 16 * 16 * 32))
    return Limits(threads, copies, reads, {"f32": f32, "bf16": bf16})


class _Machine:
    """The loops of this module, loaded."""

    def __init__(self, facts: CpuFacts, threads: int) -> None:
        self.threads, self.vector_bits = threads, facts.vector_bits
        names = ["copy", "copy_streamed", "read", "fma"]
        text = [_copy(""), _copy("_streamed"), _read(), _multiply_add(facts.vector_bits), _METADATA]
        if facts.has("avx512bf16"):
            names.append("bf16")
            text.append(_bf16_product(facts.vector_bits))
        if facts.has("amx-bf16"):
            names.append("amx")
            text.append(_AMX)
        if (product := _byte_product(facts)) is not None:
            names.append("bytes")
            text.append(product)
        self._multiplies_bytes = product is not None
        image = compile_text("\n".join([f'target triple = "{facts.triple}"', *text]), facts, effort=Effort.LIGHT)
        self._library = ObjectLoader().load(image, tuple(names))
        self._buffers = [np.ones(FOOTPRINTS[-1] // threads + 4096, np.uint8) for _ in range(threads)]

    def _function(self, name: str, *kinds: type) -> Callable[..., None]:
        return ctypes.CFUNCTYPE(None, *kinds)(self._library.address(name))

    def _seconds(self, work: Callable[[int], None], rounds: int) -> float:
        """The shortest time in which all threads did their part: CPU time of one thread, or wall time."""
        now = time.process_time if self.threads == 1 else time.perf_counter
        best = float("inf")
        for _ in range(rounds):
            barrier = threading.Barrier(self.threads)

            def run(part: int, barrier: threading.Barrier = barrier) -> None:
                barrier.wait()
                work(part)

            others = [threading.Thread(target=run, args=(part,)) for part in range(1, self.threads)]
            for thread in others:
                thread.start()
            barrier.wait()
            start = now()
            work(0)
            for thread in others:
                thread.join()
            best = min(best, now() - start)
        return best

    def _address(self, part: int) -> int:
        return (self._buffers[part].ctypes.data + 63) & ~63

    def copy(self, footprint: int, *, streamed: bool) -> float:
        function = self._function(
            "copy_streamed" if streamed else "copy", *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2
        )
        half = footprint // 2 // self.threads // 4096 * 4096
        repeats = max(1, FOOTPRINTS[-1] // footprint)

        def work(part: int) -> None:
            start = self._address(part)
            function(start + half, start, half, repeats)

        return 2 * half * self.threads * repeats / self._seconds(work, 7) / 1e9

    def read(self, footprint: int) -> float:
        function = self._function("read", *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)
        size = footprint // self.threads // 4096 * 4096 - 4096
        repeats = max(1, FOOTPRINTS[-1] // footprint)

        def work(part: int) -> None:
            function(self._address(part) + size, self._address(part), size, repeats)

        return size * self.threads * repeats / self._seconds(work, 7) / 1e9

    def byte_products(self) -> float:
        """Billions of products of bytes a second; infinity where no loop for them is known."""
        return self.rate("bytes", ACCUMULATORS * self.vector_bits // 8) if self._multiplies_bytes else float("inf")

    def rate(self, name: str, per_step: int) -> float:
        """Operations a nanosecond of a loop whose steps do `per_step` of them."""
        function = self._function(name, ctypes.c_void_p, ctypes.c_int64)

        def seconds(steps: int, rounds: int) -> float:
            return self._seconds(lambda part: function(self._address(part), steps), rounds)

        steps = 10_000
        while seconds(steps, 1) < MACHINE_SECONDS:
            steps *= 2
        return per_step * steps * self.threads / seconds(steps, 9) / 1e9


def _copy(suffix: str) -> str:
    hint = ", !nontemporal !0" if suffix else ""
    moves = "\n".join(
        f"""  %s{i} = getelementptr i8, ptr %src, i64 {64 * i}
  %d{i} = getelementptr i8, ptr %dst, i64 {64 * i}
  %sp{i} = getelementptr i8, ptr %s{i}, i64 %i
  %dp{i} = getelementptr i8, ptr %d{i}, i64 %i
  %v{i} = load <16 x float>, ptr %sp{i}, align 64
  store <16 x float> %v{i}, ptr %dp{i}, align 64{hint}"""
        for i in range(4)
    )
    return f"""define void @copy{suffix}(ptr %dst, ptr %src, i64 %n, i64 %repeats) {{
entry:
  br label %outer
outer:
  %r = phi i64 [0, %entry], [%r.next, %outer.end]
  br label %loop
loop:
  %i = phi i64 [0, %outer], [%i.next, %loop]
{moves}
  %i.next = add i64 %i, 256
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %outer.end
outer.end:
  fence seq_cst
  %r.next = add i64 %r, 1
  %again = icmp ult i64 %r.next, %repeats
  br i1 %again, label %outer, label %done
done:
  ret void
}}"""


def _read() -> str:
    sums = "\n".join(f"  %a{i} = phi <16 x i32> [zeroinitializer, %outer], [%n{i}, %loop]" for i in range(8))
    steps = "\n".join(
        f"""  %s{i} = getelementptr i8, ptr %src, i64 {64 * i}
  %p{i} = getelementptr i8, ptr %s{i}, i64 %i
  %v{i} = load <16 x i32>, ptr %p{i}, align 64
  %n{i} = xor <16 x i32> %a{i}, %v{i}"""
        for i in range(8)
    )
    stores = "\n".join(f"  store volatile <16 x i32> %n{i}, ptr %sink, align 64" for i in range(8))
    return f"""define void @read(ptr %sink, ptr %src, i64 %n, i64 %repeats) {{
entry:
  br label %outer
outer:
  %r = phi i64 [0, %entry], [%r.next, %outer.end]
  br label %loop
loop:
  %i = phi i64 [0, %outer], [%i.next, %loop]
{sums}
{steps}
  %i.next = add i64 %i, 512
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %outer.end
outer.end:
{stores}
  %r.next = add i64 %r, 1
  %again = icmp ult i64 %r.next, %repeats
  br i1 %again, label %outer, label %done
done:
  ret void
}}"""


def _multiply_add(bits: int) -> str:
    """Chains of multiply-adds that are independent of one another; the factors come from memory."""
    vector = f"<{bits // 32} x float>"
    return f"declare {vector} @llvm.fma.v{bits // 32}f32({vector}, {vector}, {vector})\n" + _accumulate(
        "fma",
        vector,
        vector,
        lambda i: f"call {vector} @llvm.fma.v{bits // 32}f32({vector} %x, {vector} %y, {vector} %a{i})",
    )


def _bf16_product(bits: int) -> str:
    vector, pairs = f"<{bits // 32} x float>", f"<{bits // 16} x bfloat>"
    name = f"@llvm.x86.avx512bf16.dpbf16ps.{bits}"
    return f"declare {vector} {name}({vector}, {pairs}, {pairs})\n" + _accumulate(
        "bf16", vector, pairs, lambda i: f"call {vector} {name}({vector} %a{i}, {pairs} %x, {pairs} %y)"
    )


def _byte_product(facts: TargetFacts) -> str | None:
    """Sums of the products of bytes without a sign by signed ones, by what the processor has for them; None where that
    is nothing.

    A product is that of the sum's own bytes, as a constant one would leave the loop.
    """
    words = facts.vector_bits // 32
    sums, factor, pairs = f"<{words} x i32>", f"<{4 * words} x i8>", f"<{2 * words} x i16>"
    if facts.triple.startswith("aarch64") and facts.has("dotprod"):
        name = f"@llvm.aarch64.neon.sdot.v{words}i32.v{4 * words}i8"
        steps = f"  %next = call {sums} {name}({sums} %sum, {factor} %x, {factor} %y)"
        declared = f"declare {sums} {name}({sums}, {factor}, {factor})"
    elif facts.has_byte_dots:
        name = f"@llvm.x86.avx512.vpdpbusd.{facts.vector_bits}"
        steps = f"  %next = call {sums} {name}({sums} %sum, {factor} %x, {factor} %y)"
        declared = f"declare {sums} {name}({sums}, {factor}, {factor})"
    elif facts.triple.startswith("x86_64") and facts.has("ssse3"):
        bytes_, words_ = _PAIRS[facts.vector_bits]
        steps = f"""  %pairs = call {pairs} {bytes_}({factor} %x, {factor} %y)
  %words = call {sums} {words_}({pairs} %pairs, {pairs} splat (i16 1))
  %next = add {sums} %sum, %words"""
        declared = f"declare {pairs} {bytes_}({factor}, {factor})\ndeclare {sums} {words_}({pairs}, {pairs})"
    else:
        return None
    step = f"""{declared}
define internal {sums} @add_products({sums} %sum, {factor} %x) alwaysinline {{
  %y = bitcast {sums} %sum to {factor}
{steps}
  ret {sums} %next
}}
"""
    return step + _accumulate("bytes", sums, factor, lambda i: f"call {sums} @add_products({sums} %a{i}, {factor} %x)")


_PAIRS = {
    128: ("@llvm.x86.ssse3.pmadd.ub.sw.128", "@llvm.x86.sse2.pmadd.wd"),
    256: ("@llvm.x86.avx2.pmadd.ub.sw", "@llvm.x86.avx2.pmadd.wd"),
    512: ("@llvm.x86.avx512.pmaddubs.w.512", "@llvm.x86.avx512.pmaddw.d.512"),
}
"""Instructions that sum the products of two bytes, and of two of these sums, by the bits of vectors."""


def _accumulate(name: str, vector: str, factor: str, product: Callable[[int], str]) -> str:
    phis = "\n".join(f"  %a{i} = phi {vector} [zeroinitializer, %entry], [%n{i}, %loop]" for i in range(ACCUMULATORS))
    steps = "\n".join(f"  %n{i} = {product(i)}" for i in range(ACCUMULATORS))
    stores = "\n".join(f"  store volatile {vector} %n{i}, ptr %data, align 64" for i in range(ACCUMULATORS))
    return f"""define void @{name}(ptr %data, i64 %n) {{
entry:
  %x = load {factor}, ptr %data, align 64
  %far = getelementptr i8, ptr %data, i64 64
  %y = load {factor}, ptr %far, align 64
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i.next, %loop]
{phis}
{steps}
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
{stores}
  ret void
}}"""


_METADATA = "!0 = !{i32 1}"

_TILES = ", ".join(f"i8 {byte}" for byte in bytes([1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[16] * 8, *[0] * 8]))

_AMX = (
    f"""@tiles = private constant [64 x i8] [{_TILES}], align 64
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8 immarg)
declare void @llvm.x86.tdpbf16ps(i8 immarg, i8 immarg, i8 immarg)
define void @amx(ptr %data, i64 %n) {{
entry:
  call void @llvm.x86.ldtilecfg(ptr @tiles)
"""
    + "\n".join(f"  call void @llvm.x86.tilezero(i8 {tile})" for tile in range(8))
    + """
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i.next, %loop]
  call void @llvm.x86.tdpbf16ps(i8 0, i8 4, i8 6)
  call void @llvm.x86.tdpbf16ps(i8 1, i8 4, i8 7)
  call void @llvm.x86.tdpbf16ps(i8 2, i8 5, i8 6)
  call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  call void @llvm.x86.tilerelease()
  ret void
}"""
)
