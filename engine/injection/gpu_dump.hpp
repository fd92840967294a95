// GPU core dumps of the observed program, as `reprise run --faults` and `--hang-after` need them:
// the trace is written before the driver's dump ends the process, and a dump of a GPU that hangs is
// requested. Threads: see the functions.
#pragma once

#include <string>

namespace reprise::detail {

// Calls `flush` when the process aborts, then what the program had installed. `flush` is called in
// a signal handler: it may use only what is safe there. Call once.
void flush_at_abort(void (*flush)());

// Requests a dump by the pipe that CUDA_COREDUMP_PIPE names. Returns why it could not; empty: it
// did. Threads: any.
[[nodiscard]] std::string request_gpu_dump();

}  // namespace reprise::detail
