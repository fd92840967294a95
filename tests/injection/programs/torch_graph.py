"""A model that torch.cuda.CUDAGraph captures once and replays."""
from shared import captured_nodes, expect, line_of, need, us_per_call

REPLAYS = 100
need("torch")
import torch  # noqa: E402

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)).cuda().eval()
x = torch.zeros(64, 256, device="cuda")
stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
with torch.no_grad():
    with torch.cuda.stream(stream):
        model(x)
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("model"), torch.cuda.graph(graph, stream=stream):
        with torch.cuda.nvtx.range("forward"):
            y = model(x)
        nodes = captured_nodes(stream.cuda_stream)
    x.copy_(torch.randn_like(x))
    us = us_per_call(graph.replay, REPLAYS, torch.cuda.synchronize)
    torch.testing.assert_close(y, model(x), rtol=0, atol=1e-4)
expect(graphs=1, replays=[REPLAYS], nodes=[nodes], names=["model", "forward", "layer_norm"], us=us, sources={line_of(__file__, "y = model(x)"): nodes})
