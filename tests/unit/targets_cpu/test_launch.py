"""The native pool and launcher: every program exactly once, whatever happens around it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from loops_kernels import fill_slots, load_loops, run_loops

from suite.arrays import Array
from suite.children import Children
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError, OutOfResources
from tilewright.targets.cpu.native_runtime import native_runtime

COUNT = """
func.func @count(%o: memref<*xi32>, %work: i32, $GRID) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0 : index
  %p = arith.index_cast %px : i32 to index
  %os = memref.reinterpret_cast %o to offset: [%p], sizes: [1], strides: [1]
    : memref<*xi32> to memref<1xi32, strided<[1], offset: ?>>
  %n = scf.while (%i = %c0) : (i32) -> i32 {
    %next = arith.addi %i, %c1 : i32
    %old = memref.atomic_rmw addi %c0, %os[%z] : (i32, memref<1xi32, strided<[1], offset: ?>>) -> i32
    %more = arith.cmpi slt, %next, %work : i32
    scf.condition(%more) %next : i32
  } do {
  ^bb0(%i: i32):
    scf.yield %i : i32
  }
  %old = memref.load %os[%z] : memref<1xi32, strided<[1], offset: ?>>
  %new = arith.addi %old, %c1 : i32
  memref.store %new, %os[%z] : memref<1xi32, strided<[1], offset: ?>>
  return
}
"""
"""Counts each program once; `work` iterations of something slow before."""


@pytest.mark.costly
def test_every_program_runs_once_for_random_launches() -> None:
    random = np.random.default_rng(0)
    out = np.zeros(3000, np.int32)
    expected = np.zeros_like(out)
    kernel = load_loops(COUNT)
    for _ in range(1500):
        programs = int(random.choice([0, 1, 2, 3, 17, 64, 500, 3000]))
        slots = fill_slots([out, int(random.choice([1, 5, 100]))], (max(programs, 1), 1, 1))
        kernel.launch(slots.ctypes.data, programs, int(random.integers(1, 5)))
        expected[:programs] += 1
    assert np.array_equal(out, expected)


@pytest.mark.costly
def test_more_programs_than_one_job_holds() -> None:
    programs = (1 << 23) + 5
    out = np.zeros(programs, np.int32)
    load_loops(COUNT).launch(fill_slots([out, 1], (programs, 1, 1)).ctypes.data, programs, 3)
    assert np.all(out == 1)


def test_launches_from_several_threads_at_a_time() -> None:
    kernel = load_loops(COUNT)
    outs = [np.zeros(400, np.int32) for _ in range(4)]

    def work(out: Array) -> None:
        slots = fill_slots([out, 20], (400, 1, 1))
        for _ in range(100):
            kernel.launch(slots.ctypes.data, 400, 2)

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.all(out == 100) for out in outs)


def test_zero_programs_do_nothing() -> None:
    out = np.zeros(1, np.int32)
    load_loops(COUNT).launch(fill_slots([out, 1], (0, 1, 1)).ctypes.data, 0)
    assert out[0] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_launches_with_threads_of_its_own() -> None:
    kernel = load_loops(COUNT)
    out = np.zeros(1000, np.int32)
    slots = fill_slots([out, 200], (1000, 1, 1))
    kernel.launch(slots.ctypes.data, 1000, 2)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        kernel.launch(slots.ctypes.data, 1000, 2)
        os._exit(0 if np.all(out == 2) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    kernel.launch(slots.ctypes.data, 1000, 2)
    assert np.all(out == 2)


ASSERTION = """
func.func @check(%o: memref<*xi32>, %bad: i32, $GRID) {
  %ok = arith.cmpi ne, %py, %bad : i32
  cf.assert %ok, "py must not be bad"
  %z = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %row = arith.muli %py, %gx : i32
  %cell = arith.addi %row, %px : i32
  %p = arith.index_cast %cell : i32 to index
  %os = memref.reinterpret_cast %o to offset: [%p], sizes: [1], strides: [1]
    : memref<*xi32> to memref<1xi32, strided<[1], offset: ?>>
  memref.store %c1, %os[%z] : memref<1xi32, strided<[1], offset: ?>>
  return
}
"""


@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_failed_assertion_stops_the_grid_and_names_the_program(num_threads: int) -> None:
    out = np.zeros((4000, 7), np.int32)
    with pytest.raises(DeviceAssertionError, match=r"py must not be bad.*kernel 'check', program 0, 3, 0"):
        run_loops(ASSERTION, out, 3, grid=(1, 28000, 1), num_threads=num_threads)
    assert not out.reshape(-1)[3]
    assert out.sum() < 28000
    out[:] = 0
    run_loops(ASSERTION, out, -1, grid=(7, 4000, 1), num_threads=num_threads)
    assert np.all(out == 1)


def test_an_assertion_in_a_called_function_ends_its_caller() -> None:
    kernel = """
func.func private @check(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %ok = arith.cmpi slt, %x, %c5 : i32
  cf.assert %ok, "too large"
  return %x : i32
}
func.func @k(%o: memref<*xi32>, %x: i32, $GRID) {
  %z = arith.constant 0 : index
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*xi32> to memref<1xi32>
  %r = func.call @check(%x) : (i32) -> i32
  memref.store %r, %os[%z] : memref<1xi32>
  return
}
"""
    out = np.zeros(1, np.int32)
    run_loops(kernel, out, 4)
    assert out[0] == 4
    with pytest.raises(DeviceAssertionError, match="too large"):
        run_loops(kernel, out, 9)
    assert out[0] == 4


def test_an_arena_that_cannot_be_had_is_an_error() -> None:
    kernel = load_loops(COUNT)
    out = np.zeros(8, np.int32)
    slots = fill_slots([out, 1], (8, 1, 1))
    enormous = 1 << 60
    runtime = native_runtime()
    greedy = type(kernel)(kernel.name, kernel._library, runtime, enormous, {})  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(OutOfResources, match=rf"required: {enormous}, hardware limit: [1-9]") as raised:
        greedy.launch(slots.ctypes.data, 8, 2)
    assert 1 << 20 < raised.value.limit < 1 << 50
    kernel.launch(slots.ctypes.data, 8, 2)
    assert np.all(out == 1)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what is in use from /proc")
def test_a_limit_on_addresses_is_the_limit() -> None:
    program = "import resource; from tilewright.targets.cpu.memory import free_memory\n"
    program += "resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31)); print(free_memory())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 1 << 31


def test_tiles_beyond_the_limit_are_refused_when_compiling() -> None:
    with pytest.raises(OutOfResources):
        load_loops("func.func @k($GRID) {\n %a = memref.alloca() : memref<2147483648xf32>\n return\n}")


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path[:0] = {folders!r}
import numpy as np
from loops_kernels import fill_slots, load_loops
from test_launch import COUNT

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what they start in the background
kernel = load_loops(COUNT)
out = np.zeros(1 << 16, np.int32)
slots = fill_slots([out, 200000], (1 << 16, 1, 1))  # about a millisecond a program: minutes in all
kernel.launch(slots.ctypes.data, 4, {threads})
sent = []

def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

for attempt in range({attempts}):
    threading.Timer(0.2, interrupt).start()
    try:
        kernel.launch(slots.ctypes.data, 1 << 16, {threads})
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[-1])
"""


@pytest.mark.costly
@pytest.mark.parametrize("threads", [1, 2])
def test_control_c_stops_a_long_grid(tmp_path: Path, compiler_children: Children, threads: int) -> None:
    """Within 100 ms; other processes may take the processor away in some of the attempts, not in all."""
    script = INTERRUPTED.format(folders=[str(Path(__file__).parents[n]) for n in (0, 2)], threads=threads, attempts=5)
    result = compiler_children.run_text(script, {}, tmp_path)
    delays = [float(line) for line in result.stdout.split()]
    assert len(delays) == 5, result.stderr
    assert min(delays) < 0.1


@pytest.mark.costly
def test_a_signal_handler_that_does_not_raise_lets_the_grid_finish() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        kernel = load_loops(COUNT)
        out = np.zeros(200, np.int32)
        slots = fill_slots([out, 50000], (200, 1, 1))  # some 0.4 s
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        kernel.launch(slots.ctypes.data, 200, 2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert np.all(out == 1)
    assert seen == [signal.SIGALRM]


def test_a_followed_setting_is_asked_where_nothing_else_is_said() -> None:
    runtime, asked = native_runtime(), [0]

    @ctypes.CFUNCTYPE(ctypes.c_int32)
    def setting() -> int:
        asked[0] += 1
        return 2

    address = ctypes.cast(setting, ctypes.c_void_p).value
    out = np.zeros(64, np.int32)
    try:
        runtime.follow(address)
        for given, expected in ((0, 1), (1, 1), (0, 2)):
            with knobs.scope(num_threads=given):
                run_loops(COUNT, out, 1, grid=(64, 1, 1), num_threads=0)
            assert asked[0] == expected
    finally:
        runtime.follow(None)
    assert np.all(out == 3)


def test_number_of_threads_follows_the_switch_and_the_call() -> None:
    runtime = native_runtime()
    before = runtime.num_threads
    with pytest.raises(ValueError, match="at least one thread"):
        runtime.set_num_threads(0)
    runtime.set_num_threads(3)
    assert runtime.num_threads == 3
    runtime.set_num_threads(before)
    with knobs.scope(num_threads=1):
        started = time.thread_time()
        out = np.zeros(64, np.int32)
        run_loops(COUNT, out, 20000, grid=(64, 1, 1), num_threads=0)
        assert time.thread_time() > started
    assert np.all(out == 1)


PRINT = """
func.func private @tilewright_print_0(i32, i32, i32, index, i64) attributes {tilewright.print =
  {bits = 32 : i64, hex = false, operand = 0 : i64, operands = 1 : i64, prefix = " x: ", signed = true,
   widths = [2 : i64]}}
func.func private @tilewright_print_1(i32, i32, i32, f64) attributes {tilewright.print =
  {bits = 32 : i64, hex = false, operand = 1 : i64, operands = 2 : i64, prefix = " y: ", signed = true}}
func.func private @tilewright_print_2(i32, i32, i32) attributes {tilewright.print =
  {bits = 0 : i64, hex = false, operand = 0 : i64, operands = 0 : i64, prefix = " here", signed = false}}
func.func @k(%x: i32, %y: f32, $GRID) {
  %i = arith.constant 5 : index
  %w = arith.extsi %x : i32 to i64
  %f = arith.extf %y : f32 to f64
  func.call @tilewright_print_0(%px, %py, %pz, %i, %w) : (i32, i32, i32, index, i64) -> ()
  func.call @tilewright_print_1(%px, %py, %pz, %f) : (i32, i32, i32, f64) -> ()
  func.call @tilewright_print_2(%px, %py, %pz) : (i32, i32, i32) -> ()
  return
}
"""


def test_device_print(capsys: pytest.CaptureFixture[str]) -> None:
    run_loops(PRINT, -7, np.float32(1.5), grid=(1, 2, 1), num_threads=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "pid (0, 0, 0) idx ( 5) x: -7",
        "pid (0, 0, 0) idx () y: (operand 1) 1.500000",
        "pid (0, 0, 0) here",
    ]
    assert lines[3].startswith("pid (0, 1, 0)")


def test_prints_from_worker_threads(capfd: pytest.CaptureFixture[str]) -> None:
    run_loops(PRINT, 1, np.float32(0), grid=(200, 1, 1), num_threads=2)
    sys.stdout.flush()
    assert len(capfd.readouterr().out.splitlines()) == 600
