"""A module of torch.cuda.make_graphed_callables: one graph for forward, one for backward."""
from shared import expect, need, us_per_call

STEPS = 50
need("torch")
import torch  # noqa: E402


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((1024,), 2.0, device="cuda"))

    def forward(self, x):
        return x * self.weight


x = torch.randn(64, 1024, device="cuda")
model = torch.cuda.make_graphed_callables(Scale(), (x,))


def step():
    model.weight.grad = None
    model(x).sum().backward()


us = us_per_call(step, STEPS, torch.cuda.synchronize)
torch.testing.assert_close(model.weight.grad, x.sum(0), rtol=0, atol=1e-4)
expect(graphs=2, replays=[STEPS, STEPS], nodes=[1, {"at_least": 1}], names=["elementwise_kernel", "reduce_kernel"], us=us)
