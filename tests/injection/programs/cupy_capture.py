"""Stream capture of CuPy: three graphs on two streams."""
from shared import captured_nodes, expect, need, us_per_call

REPLAYS = {2: 1000, 8: 500, 32: 250}  # by number of kernels; enough that the first ones do not decide the time of a call
need("cupy")
import cupy as cp  # noqa: E402

x = cp.zeros(1 << 16, dtype=cp.float32)
increment = cp.RawKernel('extern "C" __global__ void increment(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }', "increment")
increment.compile()
streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
graphs, nodes, us = [], [], 0
for kernels in REPLAYS:
    with streams[0]:
        streams[0].begin_capture()
        for _ in range(kernels):
            increment((256,), (256,), (x, cp.int32(x.size)))
        nodes.append(captured_nodes(streams[0].ptr))
        graphs.append(streams[0].end_capture())
cp.cuda.Device().synchronize()
for graph, count, stream in zip(graphs, REPLAYS.values(), (streams[0], streams[1], streams[0])):
    us += us_per_call(lambda: graph.launch(stream), count, stream.synchronize) * count / sum(REPLAYS.values())
assert (x == sum(kernels * count for kernels, count in REPLAYS.items())).all(), x
expect(graphs=3, replays=list(REPLAYS.values()), nodes=nodes, names=["increment"], us=us)
