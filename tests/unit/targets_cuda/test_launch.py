"""Launching on a driver that records: parameters, tensor maps, scratch memory, contexts, and errors."""

from __future__ import annotations

import struct
import threading
from typing import Any

import pytest
from fake_driver import CONTEXT, FakeApi

from tilewright.support.errors import DeviceAssertionError, DeviceError
from tilewright.targets.cuda.kernel import CudaKernel
from tilewright.targets.cuda.loaded_kernel import KernelFacts
from tilewright.targets.cuda.parameters import (
    FLOAT16,
    GridParameter,
    Parameter,
    TensorMapParameter,
    first_sorted,
    from_json,
    persistent_programs,
    programs_of,
    to_json,
)


class OnGpu:
    """An argument that lies on a device."""

    def __init__(self, ordinal: int = 0) -> None:
        self._ordinal = ordinal

    def get_device(self) -> int:
        return self._ordinal


ARRAYS: dict[int, Any] = {0: OnGpu()}


def kernel(**facts: Any) -> CudaKernel:
    given: dict[str, Any] = {"entry": "k", "num_threads": 128, "parameters": [0, 1], **facts}
    return CudaKernel(KernelFacts(**given), b"cubin")


def test_parameters_are_the_low_bytes_of_slots(api: FakeApi) -> None:
    api.parameter_sizes = [8, 4]
    kernel(shared=1024).launch_on([0x1122334455667788, 7], ARRAYS, (3, 2, 1))
    (launched,) = api.launched
    assert launched.values == [struct.pack("<Q", 0x1122334455667788), struct.pack("<I", 7)]
    assert (launched.grid, launched.block, launched.shared) == ((3, 2, 1), (128, 1, 1), 1024)
    assert launched.function == 0xF0
    assert api.loaded == [b"cubin"]


def test_a_kernel_is_loaded_once_and_its_memory_used_again(api: FakeApi) -> None:
    api.parameter_sizes = [8, 4]
    launched = kernel()
    for number in range(3):
        launched.launch_on([number, number], ARRAYS, (1, 1, 1))
    assert len(api.loaded) == 1
    assert [struct.unpack("<Q", entry.values[0])[0] for entry in api.launched] == [0, 1, 2]


def test_clusters_multiply_the_grid(api: FakeApi) -> None:
    kernel(num_ctas=2).launch_on([0, 0], ARRAYS, (3, 2, 1))
    assert api.launched[0].grid == (6, 2, 1)


def test_what_the_driver_is_told_beside_extents(api: FakeApi) -> None:
    kernel(is_cooperative=True).launch_on([0, 0], ARRAYS, (1, 1, 1))
    kernel(is_dependent=True).launch_on([0, 0], ARRAYS, (1, 1, 1))
    kernel(is_cooperative=True, is_dependent=True).launch_on([0, 0], ARRAYS, (1, 1, 1))
    kernel().launch_on([0, 0], ARRAYS, (1, 1, 1))
    cooperative, dependent = 2, 6
    assert [launched.attributes for launched in api.launched] == [
        {cooperative: 1}, {dependent: 1}, {cooperative: 1, dependent: 1}, {},
    ]  # fmt: skip


def test_large_clusters_are_asked_for(api: FakeApi) -> None:
    kernel(num_ctas=16).launch_on([0, 0], ARRAYS, (1, 1, 1))
    assert ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1) in api.calls


@pytest.mark.parametrize("facts", [{}, {"may_assert": True}, {"takes_scratch": True, "scratch_bytes": 8}], ids=str)
def test_prepared_launches_are_the_same(api: FakeApi, facts: dict[str, Any]) -> None:
    """A function that was prepared for forms of slots fills what a launch by slots fills."""
    api.parameter_sizes = [8, 4, 4, 8]
    prepared = kernel(shared=64, num_ctas=2, parameters=[0, 1, 2], **facts)
    start = prepared.starter(("Q", "q", "f4x"), 0)
    start((0x1122334455667788, -2, 1.5), 3, 2, 1)
    bits = struct.unpack("<I", struct.pack("<f", 1.5))[0]
    prepared.launch_on([0x1122334455667788, 2**64 - 2, bits], ARRAYS, (3, 2, 1))
    first, second = (vars(launched) for launched in api.launched)
    assert first == second
    assert first["values"][:3] == [struct.pack("<Q", 0x1122334455667788), struct.pack("<i", -2), struct.pack("<f", 1.5)]


def test_prepared_launches_make_tensor_maps(api: FakeApi) -> None:
    api.parameter_sizes = [8, 128, 4]
    parameter = TensorMapParameter(1, 2, FLOAT16, 2, (64, 128), 3)
    start = kernel(parameters=[0, parameter, 7]).starter(("Q", *["q"] * 6, "q"), 0)
    for _ in range(2):
        start((5, 0x7000, 300, 200, 256, 1, True, 9), 1, 1, 1)
    (encoded,) = api.maps
    assert (encoded[2], encoded[3], encoded[4]) == (0x7000, [200, 300], [512])
    assert api.launched[1].values == [struct.pack("<Q", 5), b"\1" * 128, struct.pack("<I", 9)]


def test_maps_of_one_dimension_have_an_array_of_strides(api: FakeApi) -> None:
    """An empty list is a null pointer to the driver."""
    api.parameter_sizes = [128]
    parameter = TensorMapParameter(0, 1, FLOAT16, 2, (256,), 0)
    kernel(parameters=[parameter]).starter(("q", "q", "q", "q"), 0)((0x7000, 300, 1, True), 1, 1, 1)
    (encoded,) = api.maps
    assert (encoded[1], encoded[3], len(encoded[4])) == (1, [300], 1)


def test_prepared_launches_find_their_context(api: FakeApi) -> None:
    start = kernel().starter(("Q", "Q"), 0)
    api.current, api.launch_statuses = 0, [201]
    start((0, 0), 1, 1, 1)
    assert api.calls[-2:] == [("push", CONTEXT), ("pop",)]
    with pytest.raises(DeviceError):
        api.launch_statuses = [999]
        start((0, 0), 1, 1, 1)


def test_prepared_launches_of_several_threads(api: FakeApi) -> None:
    """Each launch has memory of its own: no launch sees another's arguments."""
    api.parameter_sizes = [8, 8]
    start = kernel().starter(("Q", "Q"), 0)

    def work(number: int) -> None:
        for turn in range(200):
            start((number, number * 1000 + turn), 1, 1, 1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = [tuple(struct.unpack("<Q", value)[0] for value in launched.values) for launched in api.launched]
    assert sorted(seen) == [(number, number * 1000 + turn) for number in range(4) for turn in range(200)]


def test_much_shared_memory_is_asked_for(api: FakeApi) -> None:
    kernel(shared=100_000).launch_on([0, 0], ARRAYS, (1, 1, 1))
    assert ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 100_000) in api.calls


def test_tensor_maps_come_from_descriptors(api: FakeApi) -> None:
    """A descriptor of rank 2 takes 6 slots: base, extents, strides, padding; dimensions turn round."""
    api.parameter_sizes = [8, 128, 4]
    parameter = TensorMapParameter(1, 2, FLOAT16, 2, (64, 128), 3)
    launched = kernel(parameters=[0, parameter, 7])
    slots = [5, 0x7000, 300, 200, 256, 1, 1, 9]
    launched.launch_on(slots, ARRAYS, (1, 1, 1))
    launched.launch_on(slots, ARRAYS, (1, 1, 1))
    (encoded,) = api.maps
    element, rank, address, extents, strides, box, steps = encoded[:7]
    assert (element, rank, address) == (FLOAT16, 2, 0x7000)
    assert (extents, strides, box, steps) == ([200, 300], [512], [64, 128], [1, 1])
    assert encoded[8] == 3
    assert encoded[10] == "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA"
    assert api.launched[1].values == [struct.pack("<Q", 5), b"\1" * 128, struct.pack("<I", 9)]


def test_scratch_memory_is_the_last_parameter_and_grows(api: FakeApi) -> None:
    api.parameter_sizes = [8, 8, 8]
    launched = kernel(takes_scratch=True, scratch_bytes=128)
    launched.launch_on([1, 2], ARRAYS, (4, 1, 1))
    launched.launch_on([1, 2], ARRAYS, (2, 1, 1))
    launched.launch_on([1, 2], ARRAYS, (8, 1, 1))
    addresses = [struct.unpack("<Q", entry.values[2])[0] for entry in api.launched]
    assert addresses == [0xA0000000 + 512, 0xA0000000 + 512, 0xA0000000 + 1024]
    assert ("free", 0xA0000000 + 512) in api.calls


def test_kernels_with_assertions_are_waited_for(api: FakeApi) -> None:
    launched = kernel(may_assert=True)
    launched.launch_on([0, 0], ARRAYS, (1, 1, 1))
    assert ("synchronize", 0) in api.calls
    api.synchronize_status = 710
    with pytest.raises(DeviceAssertionError, match="device_assert"):
        launched.launch_on([0, 0], ARRAYS, (1, 1, 1))


def test_a_thread_without_context_gets_one(api: FakeApi) -> None:
    launched = kernel()
    launched.launch_on([0, 0], ARRAYS, (1, 1, 1))
    api.current = 0
    api.launch_statuses = [201]
    launched.launch_on([0, 0], ARRAYS, (1, 1, 1))
    assert api.calls[-2:] == [("push", CONTEXT), ("pop",)]
    assert len(api.launched) == 3


def test_resources_of_a_loaded_kernel(api: FakeApi) -> None:
    assert kernel().resources() == (40, 16)


def test_facts_survive_json() -> None:
    parameters = [0, TensorMapParameter(1, 2, FLOAT16, 2, (64, 128), 3)]
    facts = KernelFacts(entry="k", num_threads=64, parameters=parameters, takes_scratch=True, max_registers=64)
    import json

    assert KernelFacts.from_json({**json.loads(json.dumps(facts.to_json())), "entry": "k", "written": []}) == facts


@pytest.mark.parametrize(
    ("grid", "resident", "started"),
    [
        ((5, 1, 1), 132, 5),
        ((512, 1, 1), 132, 132),
        ((32, 128, 1), 132, 131),  # 32 rounds with either, and 131 visits all columns of a row
        ((32, 5, 1), 132, 131),
        ((2, 66, 1), 132, 132),
        ((2, 131, 1), 132, 131),
    ],
)
def test_no_more_programs_than_run_at_a_time(grid: tuple[int, int, int], resident: int, started: int) -> None:
    assert persistent_programs(grid, resident) == started


@pytest.mark.parametrize(
    ("grid", "started", "first"),
    [
        ((32, 128, 1), 132, 3168),  # 24 rounds as they come, and 29 rows of 32
        ((32, 64, 2), 132, 3168),
        ((32, 32, 1), 132, 0),
        ((5, 1, 1), 5, 0),
        ((31, 1000, 1), 132, 24552 + 4092),
    ],
)
def test_rows_whose_programs_are_sorted(grid: tuple[int, int, int], started: int, first: int) -> None:
    """The last ones, of four rounds at least, after whole rounds and whole rows."""
    assert first_sorted(grid, started) == first
    assert first % grid[0] == first % started == 0
    assert first == 0 or programs_of(grid) - first >= 4 * started


def test_a_kernel_of_fewer_programs_is_told_of_the_grid(api: FakeApi) -> None:
    """It starts as many as run at a time; where the user's cannot be counted, the other form runs all of them."""
    api.parameter_sizes = [4, 4, 4]
    parameters: list[Parameter] = [GridParameter("all"), GridParameter("y"), 0]
    assert from_json(to_json(parameters)) == parameters
    persistent = kernel(parameters=parameters)
    persistent.launch_on([7], ARRAYS, (300, 5, 1))
    (launched,) = api.launched
    assert launched.values == [struct.pack("<i", number) for number in (1500, 5, 7)]
    assert launched.grid == (263, 1, 1)  # two for each of 132 multiprocessors, less one: see above
    persistent.take_other_form(lambda: kernel(parameters=[0, 0, 0]))
    persistent.launch_on([7], ARRAYS, (1 << 29, 3, 1))
    assert api.launched[1].grid == (1 << 29, 3, 1)
