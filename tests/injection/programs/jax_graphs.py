"""A function of JAX, whose work XLA puts into CUDA graphs (its command buffers). The reference is JAX on the CPU.

usage: jax_graphs.py jit|scan|while|cond|pmap
"""
import os
import sys

from shared import expect, need, skip, us_per_call

CALLS, ROW = 60, sys.argv[1]
DEVICES = 2 if ROW == "pmap" else 1
need("jax", "numpy", gpus=DEVICES)
os.environ.update(XLA_FLAGS="--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer=+WHILE,+CONDITIONAL,+COLLECTIVES",
                  XLA_PYTHON_CLIENT_PREALLOCATE="false", NCCL_NVLS_ENABLE="0", JAX_DEFAULT_MATMUL_PRECISION="highest")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

if jax.default_backend() != "gpu":
    skip("JAX's plugin for CUDA is not installed")
weight = np.linspace(-0.1, 0.1, 64 * 64, dtype=np.float32).reshape(64, 64)
x = np.linspace(0, 1, DEVICES * 64 * 64, dtype=np.float32).reshape(DEVICES, 64, 64)


def of_jit(x):
    return jnp.tanh(jnp.tanh(jnp.tanh(x @ weight) @ weight) @ weight)


def of_scan(x):
    return jax.lax.scan(lambda carry, factor: (jnp.sin(carry) + factor, None), x, jnp.linspace(0.1, 0.9, 20))[0]


def of_while(x):  # no iteration for a negative sum
    return jax.lax.while_loop(lambda x: jnp.sum(x) > 1, lambda x: jnp.sin(x) * 0.5, x)


def of_cond(x):  # by the sign of the first element
    return jax.lax.cond(x[0, 0] >= 0, lambda x: jnp.sort(x, None).reshape(x.shape) * 2, lambda x: jnp.cos(x) - 1, x)


def of_pmap(x):
    return jax.lax.psum(jnp.sin(x), "device") - x


function = globals()[f"of_{ROW}"]
compiled = jax.pmap(function, axis_name="device", devices=jax.devices()[:DEVICES]) if ROW == "pmap" else jax.jit(function)
for one in (x - 1, x):
    expected = np.sin(one).sum(0) - one if ROW == "pmap" else jax.jit(function)(jax.device_put(one[0], jax.devices("cpu")[0]))
    argument = one if ROW == "pmap" else jax.device_put(one[0])
    np.testing.assert_allclose(compiled(argument), expected, rtol=0, atol=1e-4)
us = us_per_call(lambda: compiled(argument).block_until_ready(), CALLS, lambda: None)
nodes, names = {"jit": (3, ["of_jit"]), "scan": (1, ["of_scan"]), "while": (2, ["of_while", "conditional"]), "cond": (3, ["of_cond", "conditional"]),
                "pmap": (2, ["loop_sine_fusion"])}[ROW]  # pmap hides the name of its function, and its all-reduce runs between graphs
expect(graphs={"at_least": DEVICES}, all_replays={"at_least": DEVICES * CALLS}, all_nodes={"at_least": nodes}, names=names, devices=DEVICES, us=us,
       sources={} if ROW == "pmap" else {"jax_graphs.py:": {"at_least": nodes}})  # the threads of pmap run no Python
