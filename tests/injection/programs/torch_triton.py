"""Kernels in Triton, captured by torch.cuda.CUDAGraph."""
from shared import captured_nodes, expect, need, us_per_call

REPLAYS, COUNT, BLOCK = 100, 1 << 16, 1024
need("torch", "triton")
import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def add_to(x, value, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < count) + value, mask=at < count)


x = torch.zeros(COUNT, device="cuda")


def work():
    for value in (1.0, 2.0, 3.0):
        add_to[(triton.cdiv(COUNT, BLOCK),)](x, value, COUNT, BLOCK=BLOCK)


work()
torch.cuda.synchronize()
stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, stream=stream):
    work()
    nodes = captured_nodes(stream.cuda_stream)
us = us_per_call(graph.replay, REPLAYS, torch.cuda.synchronize)
assert (x == 6 * (REPLAYS + 1)).all(), x
expect(graphs=1, replays=[REPLAYS], nodes=[nodes], names=["add_to"], us=us)
