// The end of the process while replays run: of a graph that is never destroyed, or because a host
// callback called std::exit(). oneTBB's static destructors must run neither beside its tasks nor on
// a thread that is inside of one, so then the process ends before them, after all handlers and
// static destructors of the program. Threads: any.
#pragma once

namespace reprise::detail {

class HostWorkQueue;

// The queues of this process. The caller holds no lock.
void add_to_process(HostWorkQueue& queue);
void remove_from_process(HostWorkQueue& queue) noexcept;

// Call before the first replay, after the start of a background thread, which keeps this library
// mapped.
void prepare_process_exit();

}  // namespace reprise::detail
