"""Captures of a model of nested modules, each as a new graph: the time of a capture with its instantiation, of which the call stacks of nodes are a part."""
from shared import captured_nodes, expect, line_of, need, us_per_call

CAPTURES, LAYERS, DEPTH = 40, 20, 8
need("torch")
import torch  # noqa: E402

torch.manual_seed(0)


class Nested(torch.nn.Module):  # the frames of a program of some depth
    def __init__(self, depth):
        super().__init__()
        self.inner = Nested(depth - 1) if depth else torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64))

    def forward(self, x):
        return self.inner(x)


model = torch.nn.Sequential(*(Nested(DEPTH) for _ in range(LAYERS))).cuda().eval()
x = torch.zeros(16, 64, device="cuda")
stream, graphs, nodes = torch.cuda.Stream(), [], 0


def capture():
    global nodes
    graphs.append(torch.cuda.CUDAGraph())
    with torch.cuda.graph(graphs[-1], stream=stream):
        model(x)
        nodes = captured_nodes(stream.cuda_stream)


with torch.no_grad():
    with torch.cuda.stream(stream):
        model(x)
    us = us_per_call(capture, CAPTURES, torch.cuda.synchronize)
expect(graphs=CAPTURES, nodes=[nodes] * CAPTURES, names=["layer_norm"], us=us, sources={line_of(__file__, "return self.inner(x)"): nodes * CAPTURES})
