"""Shared by the programs in this folder. Each creates CUDA graphs with one framework, checks its own result, and prints the contents that a trace of `reprise run`
must have as one line of JSON. None uses Reprise. A program exits with 77 if something that it needs is missing.
"""
import ctypes
import importlib.util
import json
import sys
import time

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def driver_call(name, *arguments):
    result = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if result != 0:
        sys.exit(f"{name} returned {result}")


def need(*packages, gpus=1):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            skip(f"the package {package} is not installed")
    count = ctypes.c_int()
    try:
        if ctypes.CDLL("libcuda.so.1").cuInit(0) == 0:
            driver_call("cuDeviceGetCount", ctypes.byref(count))
    except OSError:  # no driver
        pass
    if count.value < gpus:
        skip(f"{gpus} GPUs are needed, this machine has {count.value}")


def captured_nodes(stream):
    """The number of nodes that a stream has captured so far, according to the driver. `stream`: its handle."""
    status, number, graph, count = ctypes.c_int(), ctypes.c_uint64(), ctypes.c_void_p(), ctypes.c_size_t()
    driver_call("cuStreamGetCaptureInfo_v2", ctypes.c_void_p(stream), ctypes.byref(status), ctypes.byref(number), ctypes.byref(graph), None, None)
    driver_call("cuGraphGetNodes", graph, None, ctypes.byref(count))
    return count.value


def line_of(file, text):
    """The location of the only line of a script with this text, as a trace states it."""
    with open(file) as script:
        [number] = [number for number, line in enumerate(script, 1) if text in line and "line_of" not in line]
    return f"{file.rsplit('/', 1)[-1]}:{number}"


def us_per_call(function, calls, wait):
    wait()
    started = time.perf_counter()
    for _ in range(calls):
        function()
    wait()
    return (time.perf_counter() - started) * 1e6 / calls


def expect(**contents):
    """Keys: `replays`, `nodes` and `runs` (of nodes, in all replays; needed for graphs with conditional nodes): of each graph, in order of instantiation;
    `graphs`: their number.
    `all_replays` and `all_nodes`: of all graphs together. A value is exact, or {"at_least": N, "at_most": N}.
    `sources`: the number of nodes by the beginning of their location, FILE:LINE without folders.
    `names`: each is a part of the name or label of a graph or node. `devices`: number of devices with graphs. `messages`: ids. `us`: time of a call.
    """
    print(json.dumps(contents), flush=True)
