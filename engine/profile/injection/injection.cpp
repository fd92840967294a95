// What a program loads that `reprise run` started: CUDA calls InitializeInjection when it starts,
// NVTX the other one. From here on the program's graphs are watched and a trace of them is written.
// Whatever happens here, the program goes on as without us: nothing is thrown into it, and nothing
// printed. A process that it forks has no part in this; one that it starts has a trace of its own.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "profile/injection/run_environment.hpp"
#include "profile/injection/run_session.hpp"

namespace reprise::detail {
namespace {

// CUPTI, for whoever of the two comes first.
const CuptiLibrary::Loaded& cupti() {
  static const auto* const loaded = [] {
    CuptiLibrary::Search search = CuptiLibrary::usual_places();
    search.present = CuptiLibrary::Search::Present::IsShared;
    return new CuptiLibrary::Loaded(CuptiLibrary::load(search));
  }();
  return *loaded;
}

std::atomic<RunSession*> the_session{
    nullptr};  // never destroyed: threads of the program may come here until the very end

void finish_session() {
  if (RunSession* const session = the_session.load()) session->finish();
}

// What ends first was begun last: called once the driver is up, this runs before it goes down.
void end_with_the_driver() {
  static const int registered = std::atexit(&finish_session);
  static_cast<void>(registered);
}

void begin() noexcept {
  try {
    const std::optional<RunEnvironment> environment = read_run_environment();
    if (!environment) return;
    the_session.store(new RunSession({*environment, program_invocation_short_name, &cupti,
                                      &DriverCalls::load, &end_with_the_driver}));
    ::pthread_atfork(nullptr, nullptr, [] {
      if (RunSession* const session = the_session.load()) session->forget();
    });
    static_cast<void>(std::atexit(&finish_session));
  } catch (...) {  // there is no trace then, which `reprise run` tells
  }
}

// NVTX gives its ranges to one library: CUPTI, which hands them on.
int begin_nvtx(void* get_table) {
  const std::optional<RunEnvironment> environment = read_run_environment();
  if (!environment || environment->cupti == RunEnvironment::Cupti::IsTheirs ||
      cupti().library == nullptr)
    return 0;
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(cupti().library->subscribe), &where) == 0) return 0;
  void* const library = ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto initialize =
      reinterpret_cast<int (*)(void*)>(::dlsym(library, "InitializeInjectionNvtx2"));
  return initialize == nullptr ? 0 : initialize(get_table);
}

}  // namespace
}  // namespace reprise::detail

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static std::once_flag once;
  std::call_once(once, &reprise::detail::begin);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_table) {
  try {
    return reprise::detail::begin_nvtx(get_table);
  } catch (...) {
    return 0;
  }
}
