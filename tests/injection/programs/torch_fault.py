"""PyTorch graphs with one node that faults or never ends, for `reprise run --faults` and `--hang-after`. The argument selects the case:

same: the 7th of 20 launches of one Triton kernel reads out of range, which only its parameters show
different: the 7th of 20 different kernels (torch operators) gets an index out of range
triton: a Triton kernel between operators reads out of range, in the second replay
second: the second of three graphs does
never: the 7th of 20 kernels never ends
Prints the graph's number, the node's and the replay's as JSON before it faults.
"""
import json
import sys

from shared import captured_nodes, need, skip

CASE = sys.argv[1]
COUNT, BLOCK, FAR = 1 << 16, 256, 1 << 40
need("torch", "triton")
import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def bad_gather(x, index, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.load(index + at, mask=at < count, other=0)
    tl.store(y + at, tl.load(x + j), mask=at < count)


@triton.jit
def wait_for(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass


def index():
    return torch.arange(COUNT, device="cuda")


def gather(x, i, y):
    bad_gather[(triton.cdiv(COUNT, BLOCK),)](x, i, y, COUNT, BLOCK=BLOCK)


def capture(work):
    """The graph, and the number of its nodes when `work` calls its argument."""
    stream, graph, marks = torch.cuda.Stream(), torch.cuda.CUDAGraph(), []
    work(lambda: None)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        work(lambda: marks.append(captured_nodes(stream.cuda_stream)))
    return graph, marks


x, y = torch.randn(COUNT, device="cuda"), torch.empty(COUNT, device="cuda")
indices = [index() for _ in range(20)]
flag = torch.ones(1, dtype=torch.int32, device="cuda")
operators = [torch.sin, torch.cos, torch.exp, torch.abs, torch.neg, torch.tanh, None, torch.sigmoid, torch.relu, torch.floor, torch.ceil, torch.sqrt, torch.erf,
             torch.sign, torch.atan, torch.square, torch.trunc, torch.round, torch.log1p, torch.expm1]


def same(mark):
    for n, i in enumerate(indices):
        if n == 6:
            mark()
        gather(x, i, y)


def different(mark):
    z = x
    for operator in operators:
        if operator is None:
            mark()
            gather(z, indices[6], y)
            z = y
        else:
            z = operator(z)
    return z


def never(mark):
    z = x
    for n, operator in enumerate(operators):
        if n == 6:
            mark()
            wait_for[(1,)](flag)
        else:
            z = operator(z)
    return z


def triton_case(mark):
    z = torch.sin(x * 2 + 1)
    mark()
    gather(z, indices[6], y)
    return (y.relu() * 3).sum()


works = {"same": same, "different": different, "triton": triton_case, "second": triton_case, "never": never}
if CASE not in works:
    skip(f"there is no case {CASE}")
if CASE == "second":
    graphs = [capture(lambda mark: x.sin()), capture(triton_case), capture(lambda mark: x.cos())]
else:
    graphs = [capture(works[CASE])]
number = 1 if CASE == "second" else 0
for graph, _ in graphs:
    graph.replay()
torch.cuda.synchronize()
kernel = "wait_for" if CASE == "never" else "bad_gather"
print(json.dumps({"graph": number, "node": graphs[number][1][0], "replay": 2, "kernel": kernel}), flush=True)
if CASE == "never":
    flag.zero_()
else:
    indices[6][777] = FAR
torch.cuda.synchronize()
for graph, _ in graphs:
    graph.replay()
torch.cuda.synchronize()
sys.exit("the fault had no effect")
