#include "backend/host/process_exit.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "base/creator_process.hpp"

namespace reprise::detail {

namespace {

struct ProcessExit {
  std::atomic<std::int64_t> replays{0};
  std::atomic<bool> has_ended{false};
  std::atomic<int> status{EXIT_SUCCESS};
};
// A forked child has none of its parent's replays.
ProcessExit& process_exit() {
  static constinit PerProcess<ProcessExit> all;
  return all.get();
}

// Runs after the last static destructor of the program and before those of the libraries that it
// links. Destructor functions of the program without or with a larger number run before.
[[gnu::destructor(101)]] void end_process() {
  process_exit().has_ended.store(true);
  if (process_exit().replays.load() == 0) return;
  std::fflush(nullptr);
  ::_exit(process_exit().status.load());
}

}  // namespace

void prepare_process_exit() {
  static const int is_registered =
      ::on_exit([](int status, void*) { process_exit().status.store(status); }, nullptr);
  static_cast<void>(is_registered);
  static_cast<void>(process_exit());
}

ReplayScope::ReplayScope() noexcept {
  process_exit().replays.fetch_add(1);
  while (process_exit().has_ended.load()) ::pause();
}

ReplayScope::~ReplayScope() { process_exit().replays.fetch_sub(1); }

}  // namespace reprise::detail
