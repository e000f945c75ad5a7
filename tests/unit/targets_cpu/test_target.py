"""Facts, artefacts, and code for machines other than this one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops_kernels import GRID, compile_loops, fill_slots

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.support import knobs
from tilewright.support.errors import KnobError, LocatedOpError, TargetError
from tilewright.targets.base import Target, find_target
from tilewright.targets.cpu.facts import (
    BASELINE_FEATURES,
    as_zen,
    available_cores,
    host_facts,
    named_facts,
    vector_bits_of,
    without_features,
)
from tilewright.targets.cpu.target import CpuTarget, make_target, split

EXP = """
func.func @k(%x: memref<*xf32> {tt.divisibility = 16 : i32}, %o: memref<*xf32>, $GRID) attributes {tilewright.noalias} {
  %c0 = arith.constant 0 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %v = vector.load %xs[%c0] : memref<16xf32>, vector<16xf32>
  %e = math.exp %v : vector<16xf32>
  vector.store %e, %os[%c0] : memref<16xf32>, vector<16xf32>
  return
}
"""


def test_the_cpu_target_is_found_by_name() -> None:
    target = find_target("cpu")
    assert isinstance(target, Target)
    assert target.facts.num_cores == available_cores()


def test_vector_width_follows_the_features() -> None:
    assert vector_bits_of("x86_64-unknown-linux-gnu", BASELINE_FEATURES["x86-64-v4"]) == 512
    assert vector_bits_of("x86_64-unknown-linux-gnu", BASELINE_FEATURES["x86-64-v3"]) == 256
    assert vector_bits_of("x86_64-unknown-linux-gnu", BASELINE_FEATURES["x86-64"]) == 128
    assert vector_bits_of("aarch64-unknown-linux-gnu", ()) == 128


def test_zen_uses_memory_its_own_way() -> None:
    facts = as_zen(named_facts("x86-64-v4"))
    assert not facts.loops_prefetch
    assert (facts.fetched_near_bytes, facts.streamed_traffic) == (facts.l1_bytes // 4, facts.l3_bytes)
    host = host_facts()
    assert (as_zen(host) == host) == host.cpu.startswith("znver")


def test_the_fingerprint_tells_machines_apart() -> None:
    prints = {CpuTarget(named_facts(cpu)).fingerprint() for cpu in BASELINE_FEATURES}
    assert len(prints) == len(BASELINE_FEATURES)
    host = host_facts()
    assert CpuTarget(host).fingerprint() == CpuTarget(host_facts()).fingerprint()
    others = [replace(host, fetched_near_bytes=12345), replace(host, streamed_traffic=12345)]
    others.append(replace(host, loops_prefetch=not host.loops_prefetch))
    assert len({CpuTarget(facts).fingerprint() for facts in (host, *others)}) == 4


@pytest.mark.parametrize(
    ("cpu", "register"), [("x86-64", "xmm"), ("x86-64-v3", "ymm"), ("x86-64-v4", "zmm"), ("generic-aarch64", ".4s")]
)
def test_math_is_vector_code_on_every_machine(cpu: str, register: str) -> None:
    facts = named_facts(cpu)
    artefact = compile_loops(EXP, facts)
    assembly = CpuTarget(facts).assembly(artefact.llir)
    assert register in assembly
    assert "expf" not in assembly


def test_arguments_keep_what_is_known_about_them() -> None:
    llir = compile_loops(EXP).llir
    assert "ptr noalias align 16 %a0, ptr noalias %a1" in llir


def test_an_artefact_says_what_a_launch_needs() -> None:
    artefact = compile_loops(EXP)
    assert artefact.entry == "k"
    assert artefact.arena_bytes == 0
    assert artefact.metadata["arena_bytes"] == 0 and not artefact.metadata["prints"]


def test_only_what_is_loaded_here_is_in_several_objects() -> None:
    """Micro-kernels are objects of their own, so that they are compiled beside the kernel, and once for many."""
    counts = ", ".join(["%n"] * 10)
    text = f"""
    func.func private @tw_mk_f32_f32_1024x1024({", ".join(["i64"] * 10)})
      attributes {{microkernel.matmul = {{
        element = "f32", accumulator = "f32", rows = 1024 : i64, columns = 1024 : i64}}}}
    func.func @k(%n: i64, {GRID}) {{
      func.call @tw_mk_f32_f32_1024x1024({counts}) : ({", ".join(["i64"] * 10)}) -> ()
      return
    }}"""
    target = CpuTarget(host_facts(), is_for_loading=True)
    entries = [t.emit(parse_module(text, make_context())) for t in (target, target.in_one_object())]
    several, one = (entry.metadata["object_bytes"] for entry in entries)
    assert len(several) > 1 and len(one) == 1
    assert [len(entry.object) for entry in entries] == [sum(several), sum(one)]
    assert all(image[:4] == entries[1].object[:4] for image in split(entries[0].object, several))
    slots = fill_slots([0], (1, 1, 1))
    for entry in entries:
        target.load(entry.object, {**entry.metadata, "entry": entry.entry}).launch(slots.ctypes.data, 1)


def test_ops_of_other_stages_are_refused_by_name() -> None:
    text = "func.func @k($GRID) {\n %t = tensor.empty() : tensor<4xf32>\n return\n}"
    with pytest.raises(LocatedOpError, match=r"tensor\.empty.*loops stage"):
        compile_loops(text)


def test_features_go_with_all_that_builds_on_them() -> None:
    facts = without_features(named_facts("x86-64-v4"), ["avx512f"])
    assert facts.features == BASELINE_FEATURES["x86-64-v3"]
    assert facts.vector_bits == 256
    assert {"-avx512f", "-avx512vl", "+avx2"} <= set(facts.feature_string.split(","))
    assert "zmm" not in CpuTarget(facts).assembly(compile_loops(EXP, facts).llir)


def test_a_feature_that_is_not_there_may_be_left_out() -> None:
    facts = named_facts("x86-64-v2")
    assert without_features(facts, ["avx512f"]).features == facts.features


def test_an_unknown_feature_is_refused_with_the_nearest() -> None:
    with pytest.raises(KnobError, match=r"'avx512ff'.*did you mean 'avx512f'"):
        without_features(named_facts("x86-64-v4"), ["avx512ff"])


def test_an_unknown_processor_is_refused_with_those_that_have_a_name() -> None:
    with knobs.scope(cpu="z80"), pytest.raises(TargetError, match=r"no processor 'z80'.*there are x86-64,"):
        make_target()


def test_panels_are_as_large_as_the_processor_goes_over_them_fast() -> None:
    facts = named_facts("x86-64-v4")
    assert facts.panel_bytes == facts.near_bytes < facts.l1_bytes
    assert replace(facts, panels_are_far=True).panel_bytes == 64 * 1024
    assert as_zen(replace(facts, cpu="znver4")).panels_are_far
