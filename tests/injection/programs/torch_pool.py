"""Three graphs of torch.cuda.CUDAGraph that share a memory pool, as a server captures them for several batch sizes."""
from shared import captured_nodes, expect, need, us_per_call

REPLAYS = {64: 30, 32: 20, 16: 10}  # by batch size
need("torch")
import torch  # noqa: E402

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda().eval()
stream, pool, nodes, us = torch.cuda.Stream(), None, [], 0
graphs, inputs, outputs = {}, {}, {}
with torch.no_grad():
    for batch in REPLAYS:
        x = inputs[batch] = torch.randn(batch, 512, device="cuda")
        with torch.cuda.stream(stream):
            model(x)
        torch.cuda.synchronize()
        graph = graphs[batch] = torch.cuda.CUDAGraph()
        with torch.cuda.nvtx.range(f"batch {batch}"), torch.cuda.graph(graph, pool=pool, stream=stream):
            outputs[batch] = model(x)
            nodes.append(captured_nodes(stream.cuda_stream))
        pool = pool or graph.pool()
    for batch, count in REPLAYS.items():
        us += us_per_call(graphs[batch].replay, count, torch.cuda.synchronize) * count / sum(REPLAYS.values())
        torch.testing.assert_close(outputs[batch], model(inputs[batch]), rtol=0, atol=1e-4)
expect(graphs=3, replays=list(REPLAYS.values()), nodes=nodes, names=[f"batch {batch}" for batch in REPLAYS], us=us)
