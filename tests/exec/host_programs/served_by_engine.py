"""What an engine that serves language models does around its kernels: asks whether there is a Triton, watches for
compilations, takes the first configuration, keeps compiled kernels, puts others in their place, and samples in workers."""

import inspect
import multiprocessing
import os
import sys
from importlib.metadata import version
from importlib.util import find_spec

import torch

if find_spec("triton") is None:
    raise SystemExit("there is no triton")

import triton
import triton.language as tl
import triton.language.extra.libdevice as tldevice
from triton import knobs
from triton.backends import backends

DRIVERS = [each.driver for each in backends.values() if each.driver and each.driver.is_active()]
assert len(DRIVERS) == 1, backends
assert tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 5) and version("triton") == triton.__version__
assert hasattr(tl, "make_tensor_descriptor") and hasattr(triton.language.extra, "libdevice")
TARGET = triton.runtime.driver.active.get_current_target()
DEVICE = triton.runtime.driver.active.get_active_torch_device()

compiled = []


def watch():
    """Say whenever a kernel is compiled from now on, beside whoever listens already."""
    before = knobs.runtime.jit_post_compile_hook

    def note(**facts):
        compiled.append(getattr(facts.get("fn"), "name", "?"))
        return before(**facts) if before is not None else None

    knobs.autotuning.print = True
    knobs.runtime.jit_post_compile_hook = note


def keys_of(kernel, **arguments):
    """Which kernels a call would need, as Triton tells them apart, without compiling any."""
    while isinstance(kernel, triton.runtime.autotuner.Heuristics):
        arguments |= {name: decide(arguments) for name, decide in kernel.values.items()}
        kernel = kernel.fn
    if isinstance(kernel, triton.runtime.autotuner.Autotuner):
        kernel.nargs = {}
        configs = kernel.prune_configs(dict(arguments))
        return set().union(*(keys_of(kernel.fn, **arguments, **config.all_kwargs()) for config in configs))
    device = triton.runtime.driver.active.get_current_device()
    _, known, _, _, binder = kernel.device_caches[device]
    debug = kernel.debug or knobs.runtime.debug
    _, specialization, options = binder(
        **arguments, debug=debug, instrumentation_mode=knobs.compilation.instrumentation_mode
    )
    assert knobs.runtime.add_stages_inspection_hook is None
    return {(kernel.cache_key, triton.runtime.jit.compute_cache_key(known, specialization, options))}


class Kept(triton.KernelInterface):
    """A kernel whose compiled forms are found by their arguments, and launched without binding them anew."""

    def __init__(self, fn):
        self.fn, self.arg_names, self.known = fn, fn.arg_names, {}
        while not isinstance(fn, triton.runtime.JITFunction):
            assert isinstance(fn, triton.runtime.Autotuner | triton.runtime.Heuristics)
            fn = fn.fn
        self.params = fn.params

    def run(self, *args, grid, **options):
        given = dict(zip(self.arg_names, args, strict=False))
        given |= {name: value for name, value in options.items() if name in self.arg_names}
        for param in self.params:
            if param.name not in given and param.default is not inspect.Parameter.empty:
                given[param.name] = param.default
        key = tuple(
            (a.dtype, a.data_ptr() % 16 == 0) if hasattr(a, "data_ptr") else (type(a), a) for a in given.values()
        )
        if key not in self.known:
            self.known[key] = self.fn.run(*args, grid=grid, **options)
            return self.known[key]
        sizes = grid(given) if callable(grid) else grid
        self.known[key][(*sizes, 1, 1)[:3]](*(given[param.name] for param in self.params))
        return self.known[key]


# -- the mask of a grammar: one bit for each token ---------------------------------------------------------------------
@Kept
@triton.jit
def forbid(logits, bits, rows, vocabulary, words, BLOCK: tl.constexpr):
    row = tl.load(rows + tl.program_id(0)).to(tl.int64)
    token = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(bits + tl.program_id(0) * words + token // 32, mask=token < vocabulary, other=0)
    is_allowed = (packed >> (token % 32)) & 1
    tl.store(logits + row * vocabulary + token, -float("inf"), mask=(token < vocabulary) & (is_allowed == 0))


# -- penalties of tokens that were used ---------------------------------------------------------------------------------
@triton.jit
def penalise(logits, counts, in_prompt, repetition, frequency, presence, vocabulary, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    here, inside = row * vocabulary + token, token < vocabulary
    x = tl.load(logits + here, mask=inside, other=0.0)
    count = tl.load(counts + here, mask=inside, other=0)
    seen = (count > 0) | (tl.load(in_prompt + here, mask=inside, other=0) != 0)
    r = tl.load(repetition + row)
    x = tl.where(seen, tl.where(x > 0, x / r, x * r), x)
    x -= tl.load(frequency + row) * count + tl.load(presence + row) * (count > 0)
    tl.store(logits + here, x, mask=inside)


# -- sampling: the k largest, then the smallest set whose probabilities reach p, then the largest with Gumbel noise ----
@triton.autotune(
    [triton.Config({"ROUNDS": 40}, num_warps=4), triton.Config({"ROUNDS": 60}, num_warps=8)], key=["width"]
)
@triton.jit
def sample(chosen, logits, ks, ps, noise, width, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
    """Thresholds are found by halving an interval, so that nothing is sorted."""
    row = tl.program_id(0)
    token = tl.arange(0, BLOCK)
    x = tl.load(logits + row * width + token, mask=token < width, other=-float("inf"))
    k = tl.load(ks + row)
    top = tl.max(x, 0)
    low, high = tl.min(tl.where(x > -float("inf"), x, top), 0), top
    for _ in range(ROUNDS):
        middle = low + (high - low) / 2
        if tl.sum((x >= middle).to(tl.int32), 0) >= k:
            low = middle
        else:
            high = middle
    x = tl.where(x >= low, x, -float("inf"))
    weight = tl.exp(x - top)
    weight /= tl.sum(weight, 0)
    p = tl.load(ps + row)
    low, high = tl.zeros([], tl.float32), tl.max(weight, 0)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if tl.sum(tl.where(weight >= middle, weight, 0.0), 0) >= p:
            low = middle
        else:
            high = middle
    u = tl.load(noise + row * width + token, mask=token < width, other=0.5)
    score = tl.where((weight >= low) & (weight > 0), tl.log(weight) - tl.log(-tl.log(u)), -float("inf"))
    tl.store(chosen + row, tl.argmax(score, 0))


# -- experts: tokens sorted by expert, each block of rows for one ------------------------------------------------------
@triton.heuristics({"EVEN": lambda given: given["K"] % given["BK"] == 0})
@triton.jit
def experts(
    out, x, w, scales, order, expert_of_block, gates, tokens, N, K, TOP: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """Weights are int8 with a scale for each column of each expert."""
    block = tl.program_id(0)
    expert = tl.load(expert_of_block + block)
    if expert < 0:
        return
    pair = tl.load(order + block * BM + tl.arange(0, BM))
    is_real = pair < tokens * TOP
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a = x + (pair // TOP)[:, None] * K + ks[None, :]
    b = w + expert * K * N + ks[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        if EVEN:
            left = tl.load(a, mask=is_real[:, None], other=0.0)
            right = tl.load(b, mask=columns[None, :] < N, other=0)
        else:
            left = tl.load(a, mask=is_real[:, None] & (ks[None, :] < K - k), other=0.0)
            right = tl.load(b, mask=(columns[None, :] < N) & (ks[:, None] < K - k), other=0)
        acc = tl.dot(left, right.to(left.dtype), acc)
        a += BK
        b += BK * N
    acc *= tl.load(scales + expert * N + columns, mask=columns < N, other=0.0)[None, :]
    acc *= tl.load(gates + pair, mask=is_real, other=0.0)[:, None]
    tl.store(out + pair[:, None] * N + columns[None, :], acc, mask=is_real[:, None] & (columns[None, :] < N))


# -- speculation: of a tree of drafted tokens, the path that the target would have taken --------------------------------
@triton.jit
def follow_tree(path, lengths, drafted, chosen, first_child, next_sibling, NODES: tl.constexpr, DEPTH: tl.constexpr):
    """Node 0 is the root; a child is right if it has the token that the target chose at its parent."""
    tree = tl.program_id(0) * NODES
    at, length, is_on = 0, 0, True
    for _ in range(DEPTH):
        if is_on:
            wanted = tl.load(chosen + tree + at)
            child = tl.load(first_child + tree + at)
            is_searching = child >= 0
            while is_searching:
                if tl.load(drafted + tree + child) == wanted:
                    is_searching = False
                else:
                    child = tl.load(next_sibling + tree + child)
                    is_searching = child >= 0
            is_on = child >= 0
            if is_on:
                tl.store(path + tl.program_id(0) * DEPTH + length, child)
                at = child
                length += 1
    tl.store(lengths + tl.program_id(0), length)


# -- linear attention: a state of keys times values, which decays -------------------------------------------------------
@triton.jit
def decaying(out, q, k, v, decay, length, D: tl.constexpr, C: tl.constexpr):
    """o_t = q_t S_t with S_t = g S_{t-1} + k_t v_t, by chunks of C."""
    head = tl.program_id(0)
    i, d = tl.arange(0, C), tl.arange(0, D)
    g = tl.load(decay + head)
    state = tl.zeros((D, D), tl.float32)
    steps = (i[:, None] - i[None, :]).to(tl.float32)
    inner = tl.where(steps >= 0, tldevice.exp2(steps * tl.log2(g)), 0.0)
    for start in range(0, length, C):
        at = head * length * D + (start + i)[:, None] * D + d[None, :]
        inside = (start + i)[:, None] < length
        qs, ks, vs = [tl.load(p + at, mask=inside, other=0.0) for p in (q, k, v)]
        o = tl.dot(tl.dot(qs, tl.trans(ks), input_precision="ieee") * inner, vs, input_precision="ieee")
        o += tl.dot(qs, state, input_precision="ieee") * tl.exp2((i + 1).to(tl.float32) * tl.log2(g))[:, None]
        left = tl.exp2((C - 1 - i).to(tl.float32) * tl.log2(g))
        state = state * tl.exp2(C * tl.log2(g)) + tl.dot(tl.trans(ks * left[:, None]), vs, input_precision="ieee")
        tl.store(out + at, o, mask=inside)


def check_sampling():
    torch.manual_seed(1)
    rows, width = 5, 1000
    logits = torch.randn(rows, width, device=DEVICE) * 3
    allowed = torch.rand(rows, width, device=DEVICE) < 0.9
    words = -(-width // 32)
    flags = torch.zeros(rows, words * 32, dtype=torch.int64, device=DEVICE)
    flags[:, :width] = allowed
    bits = (flags.view(rows, words, 32) << torch.arange(32, device=DEVICE)).sum(-1).to(torch.int32)
    expected = logits.masked_fill(~allowed, -float("inf"))
    grid = (rows, -(-width // 256))
    for _ in range(2):  # compiled, then kept
        forbid[grid](logits, bits, torch.arange(rows, device=DEVICE), width, words, BLOCK=256)
    assert len(forbid.known) == 1 and (logits == expected).all()

    counts = torch.randint(0, 3, (rows, width), device=DEVICE)
    prompt = torch.rand(rows, width, device=DEVICE) < 0.2
    three = [torch.rand(rows, device=DEVICE) + 0.5 for _ in range(3)]
    seen = (counts > 0) | prompt
    by = three[0][:, None]
    expected = torch.where(seen, torch.where(logits > 0, logits / by, logits * by), logits)
    expected = expected - three[1][:, None] * counts - three[2][:, None] * (counts > 0)
    penalise[grid](logits, counts, prompt, *three, width, BLOCK=256)
    torch.testing.assert_close(logits, expected)

    ks = torch.tensor([1, 5, 50, 1000, 200], device=DEVICE)
    ps = torch.tensor([0.9, 1.0, 0.5, 0.3, 0.95], device=DEVICE)
    noise = torch.rand(rows, width, device=DEVICE).clamp(1e-6, 1 - 1e-6)
    chosen = torch.empty(rows, dtype=torch.int64, device=DEVICE)
    sample[(rows,)](chosen, logits, ks, ps, noise, width, BLOCK=1024)
    ordered, index = logits.sort(-1, descending=True)
    kept = torch.arange(width, device=DEVICE)[None, :] < ks[:, None]
    weights = ordered.masked_fill(~kept, -float("inf")).softmax(-1)
    kept &= weights.cumsum(-1) - weights < ps[:, None]
    scores = torch.where(kept, weights.log(), -float("inf")) - (-noise.gather(1, index).log()).log()
    assert (chosen == index.gather(1, scores.argmax(-1)[:, None])[:, 0]).all()
    assert sample.best_config.kwargs["ROUNDS"] == 40  # the first one: nothing is measured


def check_experts():
    torch.manual_seed(2)
    tokens, count, top, n, k, rows = 21, 4, 2, 40, 48, 16
    x = torch.randn(tokens, k, device=DEVICE)
    w = torch.randint(-127, 128, (count, k, n), dtype=torch.int8, device=DEVICE)
    scales = torch.rand(count, n, device=DEVICE) / 100
    gates, named = torch.randn(tokens, count, device=DEVICE).softmax(-1).topk(top)
    order, of_block = [], []
    for expert in range(count):
        pairs = (named.reshape(-1) == expert).nonzero()[:, 0].tolist()
        blocks = -(-len(pairs) // rows)
        order += pairs + [tokens * top] * (blocks * rows - len(pairs))
        of_block += [expert] * blocks
    order += [tokens * top] * rows
    of_block += [-1]  # nobody's
    out = torch.zeros(tokens * top, n, device=DEVICE)
    sizes = {"TOP": top, "BM": rows, "BN": 32, "BK": 32}
    blocks = torch.tensor(order, device=DEVICE), torch.tensor(of_block, device=DEVICE)
    experts[(len(of_block), -(-n // 32))](out, x, w, scales, *blocks, gates, tokens, n, k, **sizes)
    wide = w.float() * scales[:, None, :]
    expected = torch.einsum("tk,tekn->ten", x, wide[named]) * gates[:, :, None]
    torch.testing.assert_close(out.view(tokens, top, n), expected, atol=5e-2, rtol=2e-2)


def check_linear_attention():
    torch.manual_seed(3)
    heads, length, d = 3, 45, 16
    q, k, v = torch.randn(3, heads, length, d, device=DEVICE) / 4
    decay = torch.tensor([0.9, 0.99, 0.5], device=DEVICE)
    out = torch.empty_like(v)
    decaying[(heads,)](out, q, k, v, decay, length, d, 16)
    state, expected = torch.zeros(heads, d, d, device=DEVICE), torch.empty_like(v)
    for t in range(length):
        state = decay[:, None, None] * state + k[:, t, :, None] * v[:, t, None, :]
        expected[:, t] = (q[:, t, :, None] * state).sum(1)
    torch.testing.assert_close(out, expected, atol=1e-4, rtol=1e-4)


def check_speculation():
    first = torch.tensor([[1, 3, -1, 5, -1, -1], [1, 2, 3, -1, -1, -1], [-1] * 6], dtype=torch.int32, device=DEVICE)
    after = torch.tensor([[-1, 2, -1, 4, -1, -1], [4, -1, -1, -1, 5, -1], [-1] * 6], dtype=torch.int32, device=DEVICE)
    after[1, 1] = 4
    drafted = torch.tensor([[0, 7, 8, 3, 4, 9], [0, 7, 8, 9, 6, 5], [0, 1, 2, 3, 4, 5]], device=DEVICE)
    chosen = torch.tensor([[7, 4, 1, 9, 2, 2], [6, 8, 9, 1, 3, 3], [1, 2, 3, 4, 5, 6]], device=DEVICE)
    path = torch.full((3, 4), -1, dtype=torch.int32, device=DEVICE)
    lengths = torch.full((3,), -1, dtype=torch.int32, device=DEVICE)
    follow_tree[(3,)](path, lengths, drafted, chosen, first, after, NODES=6, DEPTH=4)
    assert path.tolist() == [[1, 4, -1, -1], [4, -1, -1, -1], [-1] * 4], path
    assert lengths.tolist() == [2, 1, 0]


def work(answers):
    """A worker's whole life."""
    check_sampling()
    check_experts()
    answers.put((os.getpid(), triton.__version__, TARGET.backend))


class Elsewhere:
    """A platform's own function in a kernel's place."""

    def __init__(self, kernel, function):
        self.arg_names, self.constexprs, self.function = kernel.arg_names, kernel.constexprs, function

    def __getitem__(self, grid):
        return self.function


def replace_everywhere(kernel, other):
    """Put something else wherever a module holds a kernel; Triton's modules are looked at like any other."""
    found = 0
    for module in [each for name, each in sys.modules.items() if not name.startswith(("torch", "numpy"))]:
        for name, value in list(getattr(module, "__dict__", {}).items()):
            state = getattr(value, "__dict__", None)
            if value is kernel or (isinstance(state, dict) and state.get("kernel") is kernel):
                setattr(module, name, other)
                found += 1
    return found


triton_autotune, triton.autotune = (
    triton.autotune,
    lambda configs, key, **more: triton_autotune(configs[:1], key, **more),
)
sample = triton.autotune(sample.configs, ["width"])(sample.fn)

if __name__ == "__main__":
    watch()
    check_sampling()
    assert {"forbid", "penalise", "sample"} <= {name.rpartition(".")[2] for name in compiled}, compiled
    warm = len(compiled)
    check_sampling()
    assert len(compiled) == warm, "compiled again"
    check_experts()
    check_linear_attention()
    check_speculation()
    some = {"logits": torch.zeros(4), "rows": torch.zeros(4), "bits": torch.zeros(4), "words": 3, "BLOCK": 256}
    known = [keys_of(forbid.fn, **some, vocabulary=n) for n in (1, 2, 3, 16, 32, 2**40)]
    assert [known.index(each) for each in known] == [0, 1, 1, 3, 3, 5]
    sizes = {"tokens": 5, "N": 32, "K": 48, "TOP": 2, "BM": 16, "BN": 16}
    values = dict.fromkeys(experts.arg_names[:7], some["rows"]) | sizes
    assert keys_of(experts, **values, BK=16) != keys_of(experts, **values, BK=32)
    assert len(keys_of(sample, **dict.fromkeys(sample.arg_names[:5], some["rows"]), width=5, BLOCK=8)) == 1
    assert penalise.constexprs and penalise.do_not_specialize is not None and penalise.fn.__name__ == "penalise"
    calls = []
    plain, place = penalise, Elsewhere(penalise, lambda *args, **more: calls.append(len(args)))
    assert replace_everywhere(plain, place)
    penalise[(1,)](1, 2, 3)
    assert calls == [3] and penalise is place
    penalise = plain
    answers = multiprocessing.get_context("spawn").Queue()
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(answers,))  # it imports PyTorch anew
    worker.start()
    assert answers.get(timeout=200)[0] != os.getpid()
    worker.join()
    print(f"right on {TARGET.backend}")
