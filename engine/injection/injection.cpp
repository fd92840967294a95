// The entry points of the library that `reprise run` injects: CUDA calls InitializeInjection when
// it starts, NVTX calls InitializeInjectionNvtx2 and, for each of its extensions,
// InitializeInjectionNvtxExtension. The library observes the program's graphs and writes a trace.
// It must not change the program's behaviour: it throws nothing into it and prints nothing. A
// forked child is not traced; a process that the program starts writes its own trace.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <span>

#include "injection/gpu_dump.hpp"
#include "injection/nvtx_functions.hpp"
#include "injection/run_environment.hpp"
#include "injection/run_session.hpp"

namespace reprise::detail {
namespace {

// The CUPTI library; loaded by the first entry point that needs it.
const CuptiLibrary::Loaded& cupti() {
  static const auto* const loaded = [] {
    CuptiLibrary::Search search = CuptiLibrary::default_search();
    search.present = CuptiLibrary::Search::Present::Shared;
    return new CuptiLibrary::Loaded(CuptiLibrary::load(search));
  }();
  return *loaded;
}

// Never destroyed: threads of the program may use it until the process ends.
std::atomic<RunSession*> the_session{nullptr};

void finish_session() {
  if (RunSession* const session = the_session.load()) session->finish();
}

// Exit handlers run in reverse order: registered after the driver's initialisation, this one runs
// before the driver's.
void end_with_the_driver() {
  static const int registered = std::atexit(&finish_session);
  static_cast<void>(registered);
}

void begin() noexcept {
  std::optional<RunEnvironment> environment;
  try {
    environment = read_run_environment();
    if (!environment) return;
    the_session.store(new RunSession({*environment, program_invocation_short_name, &cupti,
                                      &DriverCalls::load, &end_with_the_driver}));
    ::pthread_atfork(nullptr, nullptr, [] {
      if (RunSession* const session = the_session.load()) session->forget();
    });
    static_cast<void>(std::atexit(&finish_session));
    if (environment->faults) {
      flush_at_abort([] {
        if (RunSession* const session = the_session.load()) session->finish_in_signal();
      });
    }
  } catch (const std::exception& error) {
    if (environment) report_run_error(*environment, error.what());
  }
}

void take_communicator(const NcclCommunicator& created) {
  if (RunSession* const session = the_session.load()) session->communicator_created(created);
}

// NVTX supports one tool in a process.
int begin_nvtx(const void* (*tables)(std::uint32_t)) {
  const std::optional<RunEnvironment> environment = read_run_environment();
  return environment && environment->cupti == RunEnvironment::Cupti::ByReprise &&
         install_nvtx_functions(tables, &take_communicator);
}

}  // namespace
}  // namespace reprise::detail

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static std::once_flag once;
  std::call_once(once, &reprise::detail::begin);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*tables)(std::uint32_t)) {
  try {
    return reprise::detail::begin_nvtx(tables);
  } catch (...) {
    return 0;
  }
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    const void* module) {
  if (module != nullptr) reprise::detail::install_nvtx_extension(module);
  return 1;
}
