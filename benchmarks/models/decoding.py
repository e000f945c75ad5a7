"""Decoding with `examples/llm`: quantised matrices times a vector beside what reading memory takes, and tokens a second
beside llama.cpp, of the same shape and mixture of types (where llama-cpp-python and gguf are installed).

    python benchmarks/models/decoding.py --threads 1 2 --rounds 3
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "examples" / "llm"), str(REPOSITORY / "benchmarks" / "cpu")]

import tilewright  # noqa: E402
import tilewright.compat  # noqa: E402

tilewright.compat.install()

import limits  # noqa: E402
import model as llm  # noqa: E402
import rows  # noqa: E402
from blocks import BYTES, ELEMENTS, random_blocks  # noqa: E402

COLUMNS, MATRIX_BYTES = 2048, 144 << 20
"""Of a matrix that no cache holds."""
TOKENS = 32
CONTEXTS = (4096, 65536)
"""Keys of 8 heads of 64: 8 MiB of cache, and 128."""


def compare_with_reading(threads: int, rounds: int) -> None:
    """Print the rates of matrices times a vector, in turns with a loop that only reads as much."""
    tilewright.set_num_threads(threads)
    machine = limits._Machine(limits.make_target().facts, threads)
    now = time.process_time if threads == 1 else time.perf_counter  # as for the limits
    vector = llm.quantised_vector(COLUMNS)
    for part in vector:
        part[...] = 1
    for kind in BYTES:
        rows = MATRIX_BYTES // (COLUMNS // ELEMENTS[kind] * BYTES[kind]) // 64 * 64
        matrix = llm.Matrix(kind, random_blocks(kind, rows, COLUMNS, np.random.default_rng(0)))
        out = np.zeros(rows, np.float32)
        rates: list[float] = []
        shares: list[float] = []
        for _ in range(4 * rounds):
            started = now()
            matrix.times(vector, out)
            rates.append(matrix.bytes.nbytes / (now() - started) / 1e9)
            shares.append(rates[-1] / machine.read(limits.FOOTPRINTS[-1]))
        rate, share = statistics.median(rates), statistics.median(shares)
        print(f"{threads} threads, {kind}: {rate:.1f} GB/s, {share:.2f} of reading", flush=True)


def compare_rows(threads: int, rounds: int) -> None:
    """Print the rates of matrices times 2 to 16 vectors, beside the lower of the limits of reading and multiplying."""
    tilewright.set_num_threads(threads)
    machine = limits._Machine(limits.make_target().facts, threads)
    now = time.process_time if threads == 1 else time.perf_counter  # as for the limits
    products = machine.byte_products()
    for kind in BYTES:
        found = MATRIX_BYTES // (COLUMNS // ELEMENTS[kind] * BYTES[kind]) // 64 * 64
        matrix = llm.Matrix(kind, random_blocks(kind, found, COLUMNS, np.random.default_rng(0)))
        grid = (found // 64,)
        for count in (2, 4, 8, 16):
            given = rows.by_blocks([tuple(np.ones_like(part) for part in llm.quantised_vector(COLUMNS))] * count)
            out = np.empty((count, found), np.float32)
            rates: list[float] = []
            shares: list[float] = []
            for _ in range(2 * rounds + 1):
                started = now()
                rows.PRODUCTS[kind][grid](
                    matrix.bytes,
                    matrix.halves,
                    *given,
                    out,
                    found,
                    K=COLUMNS,
                    VECTORS=count,
                    GROUPS=llm.GROUPS,
                    ROWS=llm.ROWS,
                )
                seconds = now() - started
                reading = matrix.bytes.nbytes / machine.read(limits.FOOTPRINTS[-1]) / 1e9
                rates.append(found * COLUMNS * count / seconds / 1e9)
                shares.append(max(reading, found * COLUMNS * count / products / 1e9) / seconds)
            rate, share = statistics.median(rates[1:]), statistics.median(shares[1:])
            what = f"{threads} threads, {kind}, {count} vectors: {rate:.0f} of {products:.0f} billion products a second"
            print(f"{what}, {share:.2f} of the lower limit", flush=True)


def compare_attention(threads: int, rounds: int) -> None:
    """Print the rates of attention over a paged cache and of sampling, beside a loop that only reads."""
    tilewright.set_num_threads(threads)
    machine = limits._Machine(limits.make_target().facts, threads)
    now = time.process_time if threads == 1 else time.perf_counter  # as for the limits
    rng, shape = np.random.default_rng(0), llm.Shape()
    group, scale = shape.heads // shape.kv_heads, shape.head**-0.5
    heads = {"KV": shape.kv_heads, "GROUP": group, "HEAD": shape.head, "PAGE": llm.PAGE, "SPLITS": llm.SPLITS}
    q = rng.standard_normal(shape.heads * shape.head, np.float32)
    parts = np.empty((shape.heads, llm.SPLITS, shape.head), np.float32)
    stats = np.empty((2, shape.heads, llm.SPLITS), np.float32)
    for keys in CONTEXTS:
        pages = rng.permutation(keys // llm.PAGE).astype(np.int32)
        cache = np.zeros((len(pages), 2, shape.kv_heads, llm.PAGE, shape.head), np.float16)

        def attend(cache: np.ndarray = cache, pages: np.ndarray = pages, keys: int = keys) -> None:
            llm.attend[(shape.kv_heads, llm.SPLITS)](q, cache, pages, parts, stats, keys, scale, **heads)

        _print_share(f"{threads} threads, attention over {keys} keys", attend, cache.nbytes, machine, now, rounds)
    logits = rng.standard_normal(shape.vocabulary, np.float32)
    kept, token = np.empty(64, np.int32), np.zeros(1, np.int32)

    def sample() -> None:
        llm.sample[(1,)](logits, kept, token, len(logits), 40, 0.95, 0.8, 0, 0, KEPT=64, BLOCK=1024)

    _print_share(f"{threads} threads, sampling from {len(logits)}", sample, logits.nbytes, machine, now, rounds)


def _print_share(
    what: str, run: Callable[[], object], size: int, machine: Any, now: Callable[[], float], rounds: int
) -> None:
    """Print how fast a kernel goes over so many bytes, and of what a loop over as many comes to."""
    footprint = next((known for known in limits.FOOTPRINTS if known >= size), limits.FOOTPRINTS[-1])
    calls, rates, shares = max(1, MATRIX_BYTES // size // 8), list[float](), list[float]()
    run()
    for _ in range(4 * rounds):
        started = now()
        for _ in range(calls):
            run()
        rates.append(calls * size / (now() - started) / 1e9)
        shares.append(rates[-1] / machine.read(footprint))
    rate, share = statistics.median(rates), statistics.median(shares)
    print(f"{what}: {rate:.2f} GB/s, {share:.2f} of reading, {size / rate / 1e3:.0f} us", flush=True)


def tokens_a_second(step: Callable[[int], object], first: int) -> float:
    """Return the median rate of steps from a position on."""
    seconds: list[float] = []
    for position in range(first, first + TOKENS):
        started = time.perf_counter()
        step(position)
        seconds.append(time.perf_counter() - started)
    return 1 / statistics.median(seconds)


def our_step(model: Any, threads: int) -> Callable[[int], object]:
    tilewright.set_num_threads(threads)

    def step(position: int) -> None:
        model.token[0] = 100 + position
        model.step(position)

    return step


def write_gguf(path: Path, shape: Any) -> Any:
    """Make a model, and write its blocks as a file of GGUF without a vocabulary."""
    import gguf  # pyright: ignore[reportMissingImports]

    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(shape.context)
    file.add_embedding_length(shape.width)
    file.add_block_count(shape.layers)
    file.add_feed_forward_length(shape.hidden)
    file.add_head_count(shape.heads)
    file.add_head_count_kv(shape.kv_heads)
    file.add_layer_norm_rms_eps(shape.eps)
    file.add_rope_freq_base(shape.base)
    file.add_rope_dimension_count(shape.head)
    file.add_vocab_size(shape.vocabulary)
    file.add_tokenizer_model("none")
    norms = [f"blk.{layer}.{name}" for layer in range(shape.layers) for name in ("attn_norm", "ffn_norm")]
    for name in [*norms, "output_norm"]:
        file.add_tensor(f"{name}.weight", np.ones(shape.width, np.float32))

    def add(name: str, kind: str, blocks: np.ndarray) -> None:
        kinds = gguf.GGMLQuantizationType
        file.add_tensor(name, blocks.reshape(len(blocks), -1), raw_dtype=getattr(kinds, kind.upper()))

    model = llm.Model(shape, on_blocks=add)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return model


def llama_step(path: Path, threads: int) -> Callable[[int], object]:
    """Return a step of llama.cpp, whose weights are in memory of its own, where it may change their order."""
    from llama_cpp import llama_cpp  # pyright: ignore[reportMissingImports]

    llama_cpp.llama_backend_init()
    loading = llama_cpp.llama_model_default_params()
    loading.use_mmap = False
    weights = llama_cpp.llama_model_load_from_file(str(path).encode(), loading)
    running = llama_cpp.llama_context_default_params()
    running.n_ctx, running.n_threads, running.n_threads_batch = 512, threads, threads
    context = llama_cpp.llama_init_from_model(weights, running)

    def step(position: int) -> None:
        token = (llama_cpp.llama_token * 1)(100 + position)
        assert llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(token, 1)) == 0
        llama_cpp.llama_get_logits(context)

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", action="store_true", help="products with several vectors, and nothing else")
    parser.add_argument("--attention", action="store_true", help="attention and sampling, and nothing else")
    parser.add_argument("--llama", action="store_true", help="beside llama.cpp")
    options = parser.parse_args()
    compare = compare_attention if options.attention else compare_rows if options.rows else compare_with_reading
    for threads in options.threads:
        compare(threads, options.rounds)
    if options.rows or options.attention:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        model = write_gguf(path, llm.Shape()) if options.llama else llm.Model(llm.Shape())
        for threads in options.threads:
            step, other = our_step(model, threads), llama_step(path, threads) if options.llama else None
            for first in range(0, options.rounds * TOKENS, TOKENS):
                rates = {"tilewright": tokens_a_second(step, first)}
                if other is not None:
                    rates["llama.cpp"] = tokens_a_second(other, first)
                print(f"{threads} threads: " + ", ".join(f"{who} {rate:.1f} tokens/s" for who, rate in rates.items()))


if __name__ == "__main__":
    main()
