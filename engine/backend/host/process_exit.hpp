// The end of the process while replays run: of a graph that is never destroyed, or because a host
// callback called std::exit(). oneTBB's static destructors must run neither beside its tasks nor on
// a thread that is inside of one, so then the process ends before them, after all handlers and
// static destructors of the program. Knows no queue. Threads: any.
#pragma once

namespace reprise::detail {

// Call after the start of a background thread, which keeps this library mapped, and before the
// first ReplayScope.
void prepare_process_exit();

// Surrounds each use of oneTBB by a replay. Once the process ends, its constructor blocks forever.
class ReplayScope {
 public:
  ReplayScope() noexcept;
  ReplayScope(const ReplayScope&) = delete;
  ReplayScope& operator=(const ReplayScope&) = delete;
  ~ReplayScope();
};

}  // namespace reprise::detail
