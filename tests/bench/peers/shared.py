"""Shared by the peers in this folder: the conversation with `compare`, the timing, and what PyTorch and JAX need to run.

A peer is started as `PEER.py FRAMEWORK DEVICE FOLDER DATA`: `torch` or `jax`, `cuda` or `host`, the folder in which the sample ran (output.txt is its output,
out/ its files), and the folder of the sample's input. It writes a line of JSON for each contender with its checks, `skipped` or `failed`, then one with its
`version`. For each line [contender, launches of the sample in a block] it times blocks of as much work, and writes the time of one unit of work.

Time is that of the host from the first launch of a block to the end of its work on the device, as in samples/support/timing.hpp. Data that a sample
keeps on the device is there before the block begins. Bytes that the sample's graph copies between pinned memory and the device are copied in each launch.
"""
import dataclasses
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import statistics
import sys
import time
import traceback
from typing import Callable

try:
    import numpy as np
except ImportError:
    np = None  # serve() says so

BLOCKS = 5


class Skipped(Exception):
    """Something that a peer needs is missing."""


@dataclasses.dataclass
class Check:
    what: str
    value: float
    allowed: float  # the maximum; of a check with `at_least`, the minimum
    at_least: bool = False

    def good(self):
        return self.value >= self.allowed if self.at_least else self.value <= self.allowed  # neither holds for a NaN


@dataclasses.dataclass
class Contender:
    run: Callable[[int], None]  # launches that many times in a row and waits for the end
    checks: list
    units: int = 1  # of work in a launch
    of_sample: int = 1  # units of work in a launch of the sample
    prepare: Callable[[], None] = lambda: None  # before each block, not timed


def us_of_unit(contender, launches_of_sample):
    launches = max(1, round(launches_of_sample * contender.of_sample / contender.units))
    times = []
    for _ in range(1 + BLOCKS):
        contender.prepare()
        began = time.perf_counter()
        contender.run(launches)
        times.append((time.perf_counter() - began) * 1e6 / (launches * contender.units))
    return statistics.median(times[1:])


def need(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise Skipped(f"the package {package} is not installed")


class Torch:
    def __init__(self, device):
        need("torch")
        import torch
        self.torch, self.on_gpu = torch, device == "cuda"
        if self.on_gpu and not torch.cuda.is_available():
            raise Skipped("PyTorch finds no GPU")
        self.device = "cuda" if self.on_gpu else "cpu"
        torch.manual_seed(1)
        if hasattr(torch, "set_float32_matmul_precision"):
            torch.set_float32_matmul_precision("highest")

    def variants(self, make):
        """The contenders that `make(compile)` returns: of the function as it is, and, on a GPU, of the compiled one. Graphs exist on GPUs alone."""
        def compiled():
            need("triton")
            return make(lambda function: self.torch.compile(function, mode="max-autotune-no-cudagraphs"))

        def eager():
            return make(lambda function: function)
        return {"PyTorch, CUDA graph": eager, "PyTorch, torch.compile, CUDA graph": compiled} if self.on_gpu else {"PyTorch, eager": eager}

    def tensor(self, array):
        return self.torch.as_tensor(array).to(self.device)

    def pinned(self, array):
        tensor = self.torch.as_tensor(array)
        return tensor.pin_memory() if self.on_gpu else tensor

    def graph(self, function):
        """Returns a function that replays what `function` does; on the CPU, `function` itself."""
        torch = self.torch
        if not self.on_gpu:
            return function
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(5):
                function()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function()
        return lambda keep=function: graph.replay()

    def repeat(self, launch):
        def run(launches):
            for _ in range(launches):
                launch()
            self.wait()
        return run

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()


class Jax:
    def __init__(self, device, **config):
        need("jax")
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        if device != "cuda":
            os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        self.jax, self.on_gpu = jax, device == "cuda"
        for name, value in {"jax_default_matmul_precision": "highest", **config}.items():
            jax.config.update(name, value)
        if self.on_gpu and jax.default_backend() != "gpu":
            raise Skipped("JAX's plugin for CUDA is not installed")
        self.loops = "+WHILE" in os.environ.get("XLA_FLAGS", "")  # XLA puts loops into graphs
        self.name = "JAX, loops in graphs" if self.loops else "JAX"

    def memory(self, kind):
        return self.jax.sharding.SingleDeviceSharding(self.jax.devices()[0], memory_kind=kind)

    def pinned(self, array):
        return self.jax.device_put(array, self.memory("pinned_host") if self.on_gpu else None)

    def from_pinned(self, function):
        """Compiles `function` of an argument in pinned memory, which is copied to the device; the results are copied to pinned memory. The CPU copies nothing."""
        jax = self.jax
        if not self.on_gpu:
            return jax.jit(function)
        return jax.jit(lambda x: function(jax.device_put(x, self.memory("device"))), out_shardings=self.memory("pinned_host"))

    def repeat(self, launch):
        def run(launches):
            for _ in range(launches):
                result = launch()
            self.jax.block_until_ready(result)
        return run


def found(folder, pattern):
    """The groups of all matches of `pattern` in the sample's output."""
    matches = re.findall(pattern, (folder / "output.txt").read_text())
    if not matches:
        raise ValueError(f"the sample's output has no line with {pattern}")
    return matches


def serve(peers):
    """`peers`: by framework, a function of device, folder and data that returns the functions that make the contenders, by name."""
    framework, device, folder, data = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # frameworks print to it

    def say(value):
        print(json.dumps(value, default=lambda number: number.item()), file=answers, flush=True)  # numpy's numbers

    contenders = {}

    def make(name, function):
        try:
            contenders[name] = function()
            say({"name": name, "checks": [dataclasses.asdict(check) | {"good": bool(check.good())} for check in contenders[name].checks]})
        except Skipped as reason:
            say({"name": name, "skipped": str(reason)})
        except Exception as error:
            traceback.print_exc()
            say({"name": name, "failed": f"{type(error).__name__}: {error}".splitlines()[0]})

    try:
        need("numpy")
        for name, function in peers[framework](device, pathlib.Path(folder), pathlib.Path(data)).items():
            make(name, function)
    except Skipped as reason:
        say({"name": {"torch": "PyTorch", "jax": "JAX"}[framework], "skipped": str(reason)})
    say({"version": importlib.metadata.version(framework) if contenders else None})
    for line in sys.stdin:
        name, launches = json.loads(line)
        say(us_of_unit(contenders[name], launches))
