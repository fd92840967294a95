"""A training step of DistributedDataParallel with NCCL, captured as one graph, on two ranks."""
import os
import subprocess
import sys

from shared import captured_nodes, expect, need, us_per_call

STEPS, WARM_STEPS, BATCH = 50, 11, 16  # DDP needs eleven steps before a capture
if "RANK" not in os.environ:
    need("torch", gpus=2)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", __file__]
    sys.exit(subprocess.call(launcher, env={"NCCL_NVLS_ENABLE": "0", **os.environ}))
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
x = torch.full((BATCH, 256), rank + 1.0, device="cuda")
stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()


def step():
    model.zero_grad(set_to_none=True)
    model(x).sum().backward()


torch.cuda.synchronize()
with torch.cuda.stream(stream):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 8, device="cuda"), device_ids=[rank])
    for _ in range(WARM_STEPS):
        step()
torch.cuda.synchronize()
with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
    step()
    nodes = captured_nodes(stream.cuda_stream)
us = us_per_call(graph.replay, STEPS, torch.cuda.synchronize)
assert (model.module.weight.grad == BATCH * 1.5).all(), "gradients are the mean of both ranks"
dist.barrier()
if rank == 0:  # the same holds for the trace of each rank
    expect(graphs=1, replays=[STEPS], nodes=[nodes], names=["AllReduce"], us=us)
del graph  # NCCL destroys a communicator after the graphs that use it
dist.destroy_process_group()
