"""Branches, loops, calls, barriers, and programs that never end."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_kernels import by_thread, kernel, run

from tilewright.reference.simt import (
    DeadlockError,
    DeviceAssertionFailed,
    DeviceTrap,
    PtxSyntaxError,
    SimulationError,
    UnknownInstruction,
    run_ptx,
)

X = np.arange(64, dtype=np.uint32)


def test_threads_loop_as_often_as_they_like() -> None:
    body = """
    mov.u32 %r0, 0; mov.u32 %r2, 0;
    LOOP: setp.ge.u32 %p1, %r2, %r1; @%p1 bra DONE;
    add.u32 %r2, %r2, 1; add.u32 %r0, %r0, %r2; bra.uni LOOP;
    DONE: add.u32 %r0, %r0, 100;"""
    np.testing.assert_array_equal(by_thread(body, [X], np.uint32), X * (X + 1) // 2 + 100)


def test_nested_branches_and_early_exits() -> None:
    out = np.zeros(64, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d16;
    setp.gt.u32 %p1, %r1, 50; @%p1 exit;
    and.b32 %r2, %r1, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra EVEN;
    setp.lt.u32 %p3, %r1, 10; @%p3 ret;
    st.global.u32 [%d1], 1; bra END;
    EVEN: { .reg .pred inner; setp.lt.u32 inner, %r1, 20; @inner bra END; st.global.u32 [%d1], 2; }
    END: red.global.add.u32 [%d1], 10;"""
    run(body, out, threads=64)
    expected = np.where(X % 2 == 1, np.where(X < 10, 0, 11), np.where(X < 20, 10, 12))
    np.testing.assert_array_equal(out, np.where(X > 50, 0, expected))


def test_labels_in_braces_are_local() -> None:
    loop = (
        "{ .reg .u32 n; mov.u32 n, 0; L: add.u32 n, n, 1; setp.lt.u32 %p1, n, COUNT; @%p1 bra L; add.u32 %r0, %r0, n; }"
    )
    body = "mov.u32 %r0, 0;" + loop.replace("COUNT", "5") + loop.replace("COUNT", "7")
    np.testing.assert_array_equal(by_thread(body, [X], np.uint32), np.full(64, 12))


def test_branches_by_number() -> None:
    """Each thread goes on at the label of its number; labels may stand in a table more than once."""
    body = """
    and.b32 %r2, %r1, 3; mov.u32 %r0, 5; setp.eq.u32 %p1, %r1, 63;
    TABLE: .branchtargets ZERO, ONE, BEHIND, ONE;
    @!%p1 brx.idx %r2, TABLE;
    mov.u32 %r0, 9; bra BEHIND;
    ZERO: mov.u32 %r0, 10; bra.uni BEHIND;
    ONE: mov.u32 %r0, 11;
    BEHIND: add.u32 %r0, %r0, 100;"""
    expected = np.choose(X % 4, [110, 111, 105, 111])
    np.testing.assert_array_equal(by_thread(body, [X], np.uint32), np.where(X == 63, 109, expected))


def test_a_number_outside_of_the_table() -> None:
    body = "mov.u32 %r1, %tid.x; T: .branchtargets A, A; brx.idx %r1, T; A: mov.u32 %r2, 0;"
    with pytest.raises(SimulationError, match=r"thread 2: label 2 of a table of 2 "):
        run(body)


FUNCTIONS = """
.func (.param .b32 twice_ret) twice(.param .b32 twice_x)
{
  .reg .b32 %a<4>;
  ld.param.b32 %a1, [twice_x];
  add.u32 %a2, %a1, %a1;
  st.param.b32 [twice_ret], %a2;
  ret;
}
.func (.param .align 8 .b8 both_ret[16]) both(.param .b64 both_x, .param .b32 both_y)
{
  .reg .b32 %a<4>; .reg .b64 %b<4>; .reg .pred %q<2>;
  ld.param.b64 %b1, [both_x]; ld.param.b32 %a1, [both_y];
  setp.gt.u32 %q1, %a1, 5; @%q1 bra BIG;
  { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %a1; call.uni (r0), twice, (p0); ld.param.b32 %a2, [r0]; }
  st.param.v2.b64 [both_ret], {%b1, %b1};
  cvt.u64.u32 %b2, %a2; st.param.b64 [both_ret+8], %b2;
  ret;
  BIG: mov.u64 %b3, 0; st.param.v2.b64 [both_ret], {%b3, %b3}; ret;
}
"""


def test_calls_from_different_places() -> None:
    out = np.zeros(64, np.uint32)
    call = "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r1; call.uni (r0), twice, (p0);"
    call += " ld.param.b32 %r1, [r0]; }"
    body = f"""
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d16;
    setp.gt.u32 %p1, %r1, 20; @%p1 bra OTHER;
    {call} {call} bra END;
    OTHER: {call}
    END: st.global.u32 [%d1], %r1;"""
    run(body, out, threads=64, functions=FUNCTIONS)
    np.testing.assert_array_equal(out, np.where(X > 20, 2 * X, 4 * X))


def test_calls_of_calls_and_structures() -> None:
    out = np.zeros(128, np.uint64)
    body = """
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 16; add.u64 %d1, %d1, %d16; cvt.u64.u32 %d2, %r1;
    { .param .b64 p0; .param .b32 p1; .param .align 8 .b8 r0[16];
      st.param.b64 [p0], %d2; st.param.b32 [p1], %r1; call (r0), both, (p0, p1);
      ld.param.v2.b64 {%d3, %d4}, [r0]; }
    st.global.v2.u64 [%d1], {%d3, %d4};"""
    run(body, out, threads=64, functions=FUNCTIONS)
    np.testing.assert_array_equal(out[::2], np.where(X > 5, 0, X))
    np.testing.assert_array_equal(out[1::2], np.where(X > 5, 0, 2 * X))


def test_parameters_of_functions_have_addresses() -> None:
    """LLVM selects between two parameters by selecting between their addresses."""
    text = """
    .func (.param .b32 r) pick(.param .b32 c, .param .b32 a, .param .b32 b) {
      .reg .pred %p<2>; .reg .b32 %x<4>; .reg .b64 %y<4>;
      ld.param.b32 %x1, [c]; setp.gt.s32 %p1, %x1, 20;
      mov.b64 %y1, a; mov.b64 %y2, b; selp.b64 %y3, %y2, %y1, %p1; ld.param.b32 %x2, [%y3];
      st.param.b32 [r], %x2; ret;
    }"""
    body = """
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d16; add.u32 %r2, %r1, 1000;
    { .param .b32 p0; .param .b32 p1; .param .b32 p2; .param .b32 q;
      st.param.b32 [p0], %r1; st.param.b32 [p1], %r2; st.param.b32 [p2], 7; call (q), pick, (p0, p1, p2);
      ld.param.b32 %r3, [q]; }
    st.global.u32 [%d1], %r3;"""
    out = np.zeros(64, np.uint32)
    run(body, out, threads=64, functions=text)
    np.testing.assert_array_equal(out, np.where(X > 20, 7, X + 1000))


def test_recursion_is_refused() -> None:
    text = ".func f() { call f; ret; }"
    with pytest.raises(SimulationError, match="'f' calls itself"):
        run("call f;", functions=text)


def test_named_barriers_of_some_warps() -> None:
    """Warps 0 and 1 meet at barrier 1, warp 2 only arrives, and warp 3 is never there."""
    out = np.zeros(128, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d16;
    mov.u32 %r2, smem; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;
    setp.ge.u32 %p1, %r1, 96; @%p1 bra END;
    setp.ge.u32 %p2, %r1, 64; @%p2 bra GIVE;
    bar.sync 1, 96;
    mov.u32 %r4, smem; add.u32 %r4, %r4, 256; ld.shared.u32 %r6, [%r4]; st.global.u32 [%d1], %r6;
    bra END;
    GIVE: st.shared.u32 [%r2], 5; bar.arrive 1, 96;
    END:"""
    run(body, out, threads=128)
    np.testing.assert_array_equal(out, [5] * 64 + [0] * 64)


def test_reductions_at_a_barrier() -> None:
    found = by_thread("setp.gt.u32 %p1, %r1, 9; bar.red.popc.u32 %r0, 0, %p1;", [X], np.uint32)
    np.testing.assert_array_equal(found, np.full(64, 54))
    found = by_thread("setp.gt.u32 %p1, %r1, 9; bar.red.and.pred %p0, 0, %p1;", [X], np.bool_)
    assert not found.any()


def test_a_barrier_that_some_threads_never_reach() -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 40; @%p1 bra OUT; bar.sync 1, 64; OUT:"
    with pytest.raises(DeadlockError, match="24 of 64 threads wait at barrier 1 for others that never come"):
        run(body, threads=64)


def test_threads_that_ended_are_not_waited_for() -> None:
    run("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0;", threads=64)


def test_a_loop_that_never_ends() -> None:
    with pytest.raises(DeadlockError, match="has not ended after 1000 steps"):
        run("LOOP: bra LOOP;", step_limit=1000)


LOCK = """
    mov.u32 %r1, %laneid; setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT;
    TRY: atom.global.acquire.gpu.cas.b32 %r2, [%d16], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TRY;
    ld.global.u32 %r3, [%d16+4]; add.u32 %r3, %r3, 1; st.global.u32 [%d16+4], %r3;
    st.global.u32 [%d16+4], %r3; atom.global.release.gpu.exch.b32 %r4, [%d16], 0;
    OUT:"""


@pytest.mark.costly
def test_who_waits_for_a_lock_lets_its_holder_run() -> None:
    memory = np.zeros(2, np.uint32)
    run(LOCK, memory, threads=64, grid=(3, 2, 2))
    np.testing.assert_array_equal(memory, [0, 24])


def test_programs_know_their_place() -> None:
    out = np.zeros(24 * 4, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 exit;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1; mul.wide.u32 %d1, %r6, 16; add.u64 %d1, %d1, %d16;
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r6};"""
    run(body, out, grid=(4, 3, 2), threads_at_once=96)
    z, y, x = np.meshgrid(np.arange(2), np.arange(3), np.arange(4), indexing="ij")
    expected = np.stack([x.ravel(), y.ravel(), z.ravel(), np.arange(24)], axis=1)
    np.testing.assert_array_equal(out.reshape(-1, 4), expected)


def test_traps_and_assertions_say_where() -> None:
    with pytest.raises(DeviceTrap, match=r"program \(1, 0, 0\), thread 7: the kernel stopped itself"):
        run(
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r1, 1; setp.eq.and.u32 %p1, %r2, 7, %p1;"
            "@%p1 trap;",
            grid=(2,),
        )
    strings = (
        ".global .align 1 .b8 what[4] = {110, 111, 33, 0};\n.extern .func __assertfail(.param .b64 a, .param .b64 b,"
    )
    strings += " .param .b32 c, .param .b64 d, .param .b64 e);\n"
    body = """
    mov.u64 %d1, what; cvta.global.u64 %d2, %d1;
    { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
      st.param.b64 [p0], %d2; st.param.b64 [p1], %d2; st.param.b32 [p2], 12; st.param.b64 [p3], %d2;
      st.param.b64 [p4], 1; call.uni __assertfail, (p0, p1, p2, p3, p4); }"""
    with pytest.raises(DeviceAssertionFailed, match=r"no!:12: no!: assertion failed: no!"):
        run(body, variables=strings)


def test_printing() -> None:
    text = b"%d|%5.2f|%s|%llx|%%\n" + b"\0"
    variables = f".global .align 1 .b8 fmt[{len(text)}] = {{{', '.join(map(str, text))}}};\n"
    variables += ".global .align 1 .b8 word[3] = {104, 105, 0};\n"
    variables += ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    body = """
    .local .align 8 .b8 depot[32];
    mov.u64 %d3, depot; cvta.local.u64 %d4, %d3; mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 1; @%p1 exit;
    sub.s32 %r2, 0, %r1; st.local.u32 [%d3], %r2; mov.f64 %d5, 0d4002000000000000; st.local.f64 [%d3+8], %d5;
    mov.u64 %d6, word; cvta.global.u64 %d6, %d6; st.u64 [%d4+16], %d6; st.local.u64 [%d3+24], 0xBEEF;
    mov.u64 %d1, fmt; cvta.global.u64 %d2, %d1;
    { .param .b64 p0; .param .b64 p1; .param .b32 r0;
      st.param.b64 [p0], %d2; st.param.b64 [p1], %d4; call.uni (r0), vprintf, (p0, p1); }"""
    assert run(body, variables=variables).output == ["0| 2.25|hi|beef|%\n", "-1| 2.25|hi|beef|%\n"]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("add.odd.s32 %r1, %r1, 1;", UnknownInstruction, r"does not know 'add\.odd\.s32': what is '\.odd'\?"),
        ("wave.f32 %r1, %r2;", UnknownInstruction, r"does not know 'wave\.f32'"),
        ("add.u32 %r1, %r2, nothing;", UnknownInstruction, "'nothing' is neither a register nor a variable"),
        ("bra NOWHERE;", UnknownInstruction, "the label is not in the function"),
        ("brx.idx %r1, NOWHERE;", UnknownInstruction, "the labels are not in the function"),
        ("add.u32 %r1 ^ 2;", PtxSyntaxError, r"unexpected character '\^'"),
        ("@%q7 add.u32 %r1, %r1, 1;", PtxSyntaxError, "'%q7' is not a register"),
        (".reg .b128 %x;", PtxSyntaxError, "registers of type '.b128' are not supported"),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
            UnknownInstruction,
            "do not fit",
        ),
    ],
)
def test_what_is_not_known_is_named_with_its_line(text: str, kind: type[SimulationError], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        run(f"mov.u32 %r1, 0;\n{text}")
    lines = kernel(f"mov.u32 %r1, 0;\n{text}").splitlines()
    assert caught.value.filename == "<ptx>"
    assert caught.value.line == 1 + next(n for n, line in enumerate(lines) if line.startswith(text))


def test_wrong_kernels_and_parameters() -> None:
    text = kernel("", ["a0"])
    with pytest.raises(SimulationError, match="has no kernel 'other'; it has k"):
        run_ptx(text, "other", grid=(1,), num_threads=32, args=[1])
    with pytest.raises(SimulationError, match="kernel 'k' has 1 parameters, got 2"):
        run_ptx(text, "k", grid=(1,), num_threads=32, args=[1, 2])
    compiled_for_two_warps = text.replace("{", ".reqntid 64 {", 1)
    with pytest.raises(SimulationError, match=r"kernel 'k' has .reqntid for 64 threads, launched with 32"):
        run_ptx(compiled_for_two_warps, "k", grid=(1,), num_threads=32, args=[1])


def test_errors_point_into_the_source() -> None:
    text = kernel(".loc 1 12 5\nld.global.u32 %r1, [%d16+4096];", ["a0"]) + '\n.file 1 "kernel.py"\n'
    with pytest.raises(
        SimulationError, match=r"kernel\.py:12:5: error: program \(0, 0, 0\), thread 0: element 1024"
    ) as e:
        run_ptx(text, "k", grid=(1,), num_threads=32, args=[np.zeros(4, np.uint32)])
    assert "note: at 'ld.global.u32 %r1, [%d16+4096];'" in str(e.value)
