"""torch.multiprocessing: shared tensors that kernels of several processes add to, queues of tensors, pickled kernels, forkserver with preloads, threads, fork before and after a launch."""

import os
import pickle
import threading

import torch
import torch.multiprocessing as mp
import triton
import triton.language as tl


@triton.jit
def add_up(x, bins, total, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(bins + v % BINS, 1, mask=i < n)
    tl.atomic_add(total, tl.sum(v.to(tl.int64)), sem="acq_rel", scope="sys")


@triton.jit
def wait_for(flag, out, mine: tl.constexpr):
    while tl.atomic_add(flag, 0, sem="acquire") < mine:
        pass
    tl.store(out + mine, tl.load(flag))
    tl.atomic_add(flag, 1, sem="release")


def worker(rank, x, bins, total, flag, order, done):
    part = x[rank::2].contiguous()
    add_up[(triton.cdiv(len(part), 64),)](part, bins, total, len(part), BINS=7, BLOCK=64)
    wait_for[(1,)](flag, order, mine=rank)
    done.put((rank, os.getpid(), part.sum().item()))


def square(tensor):
    out = torch.zeros(8, dtype=torch.int32)
    add_up[(1,)](tensor, out, torch.zeros(1, dtype=torch.int64), len(tensor), BINS=8, BLOCK=64)
    return out


def launch_pickled(job):
    kernel, x = pickle.loads(job)
    bins, total = torch.zeros(5, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
    kernel[(triton.cdiv(len(x), 32),)](x, bins, total, len(x), BINS=5, BLOCK=32)
    return total.item()


def main():
    x = torch.arange(1000, dtype=torch.int32).share_memory_()
    for method in ("spawn", "forkserver", "fork"):
        context = mp.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(["torch", "triton", "triton.language"])
        bins, total = (
            torch.zeros(7, dtype=torch.int32).share_memory_(),
            torch.zeros(1, dtype=torch.int64).share_memory_(),
        )
        flag, order = (
            torch.zeros(1, dtype=torch.int32).share_memory_(),
            torch.full((2,), -1, dtype=torch.int32).share_memory_(),
        )
        done = context.SimpleQueue()
        processes = [context.Process(target=worker, args=(r, x, bins, total, flag, order, done)) for r in range(2)]
        for process in processes:
            process.start()
        got = [done.get() for _ in range(2)]
        for process in processes:
            process.join(60)
            assert process.exitcode == 0, (method, process.exitcode)
        assert torch.equal(bins, torch.bincount(x % 7).int()), (method, bins)
        assert total.item() == x.sum().item() and order.tolist() == [0, 1], (method, total, order)
        assert len({pid for _, pid, _ in got}) == 2 and sum(part for *_, part in got) == x.sum().item()
    # spawn of torch's own
    bins, total = torch.zeros(7, dtype=torch.int32).share_memory_(), torch.zeros(1, dtype=torch.int64).share_memory_()
    with mp.get_context("forkserver").Pool(2) as pool:
        results = pool.map(square, [x[:50].clone(), x[50:90].clone()])
        assert results[0].sum() == 50 and results[1].sum() == 40
        assert pool.map(launch_pickled, [pickle.dumps((add_up, x[:100].clone()))] * 2) == [4950, 4950]
    # threads of one process, and children of a process that has launched
    totals = [torch.zeros(1, dtype=torch.int64) for _ in range(8)]

    def run(k):
        for _ in range(5):
            add_up[(triton.cdiv(1000, 2 ** (4 + k % 4)),)](
                x, torch.zeros(3, dtype=torch.int32), totals[k], 1000, BINS=3, BLOCK=2 ** (4 + k % 4)
            )

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(t.item() == 5 * 499500 for t in totals), totals
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writer, str(square(x[:60]).sum().item()).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0 and os.read(reader, 10) == b"60"
    assert pickle.loads(pickle.dumps(add_up)) is add_up
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
