"""A kernel of Numba, captured and launched through the driver API, since Numba has no graphs of its own."""
import ctypes

from shared import captured_nodes, driver_call, expect, need, skip, us_per_call

REPLAYS, KERNELS, THREAD_LOCAL = 100, 4, 1
need("numba", "numpy")
import numpy as np  # noqa: E402

try:
    from numba import cuda
    from numba.cuda import cudaimpl  # noqa: F401  # is otherwise imported by the first kernel
except Exception as error:  # versions of Numba and NumPy that do not fit
    skip(f"Numba cannot be imported: {error}")


@cuda.jit
def increment(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


x = cuda.to_device(np.zeros(1 << 12, dtype=np.float32))
stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
driver_call("cuStreamCreate", ctypes.byref(stream), 1)
for_numba = cuda.external_stream(stream.value)
increment[16, 256, for_numba](x)
for_numba.synchronize()
driver_call("cuStreamBeginCapture_v2", stream, THREAD_LOCAL)
for _ in range(KERNELS):
    increment[16, 256, for_numba](x)
nodes = captured_nodes(stream.value)
driver_call("cuStreamEndCapture", stream, ctypes.byref(graph))
driver_call("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
us = us_per_call(lambda: driver_call("cuGraphLaunch", executable, stream), REPLAYS, for_numba.synchronize)
assert (x.copy_to_host() == KERNELS * REPLAYS + 1).all()
expect(graphs=1, replays=[REPLAYS], nodes=[nodes], names=["increment"], us=us)
