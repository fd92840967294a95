"""torch.compile in a mode that creates CUDA graphs.

usage: torch_compile.py reduce-overhead|max-autotune
"""
import sys

from shared import expect, need, us_per_call

CALLS, WARM_CALLS = 100, 5
need("torch", "triton")
import torch  # noqa: E402

torch.manual_seed(0)
weight = torch.randn(512, 512, device="cuda") / 512**0.5
x = torch.randn(64, 512, device="cuda")


def layer(x):
    return torch.nn.functional.layer_norm(torch.nn.functional.gelu(x @ weight), (512,))


compiled = torch.compile(layer, mode=sys.argv[1], dynamic=False)


def call():
    torch.compiler.cudagraph_mark_step_begin()
    return compiled(x)


with torch.no_grad():
    for _ in range(WARM_CALLS):
        call()
    us = us_per_call(call, CALLS, torch.cuda.synchronize)
    torch.testing.assert_close(call().clone(), layer(x), rtol=0, atol=1e-3)
# The first calls compile, run without a graph, and capture. Autotuning may replay graphs of its own.
replays = {"at_least": CALLS + 1} if sys.argv[1] == "max-autotune" else {"at_least": CALLS + 1, "at_most": CALLS + WARM_CALLS + 1}
expect(graphs={"at_least": 1}, all_replays=replays, all_nodes={"at_least": 2}, names=["triton_"], us=us,
       sources={"torch_compile.py:": {"at_least": 2}})
