#include "base/background_thread.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <initializer_list>
#include <utility>

namespace reprise::detail {
namespace {

// Keeps the library that contains the engine mapped, and with it those that it links: their threads
// outlive the last object of the engine. No effect in a program that contains the engine.
void keep_library_mapped() noexcept {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&keep_library_mapped), &library) != 0)
    static_cast<void>(::dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace

std::thread start_background_thread(const char* name, std::function<void()> work) {
  static const bool is_mapped = (keep_library_mapped(), true);
  static_cast<void>(is_mapped);
  // The new thread inherits the signal mask, so no blocked signal ever reaches it.
  sigset_t all, before;
  sigfillset(&all);
  // Synchronous faults stay unblocked: the application's crash handler must receive them.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigdelset(&all, fault);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(work));
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace reprise::detail
