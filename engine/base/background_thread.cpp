#include "base/background_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>
#include <utility>

namespace reprise::detail {

std::thread start_background_thread(const char* name, std::function<void()> work) {
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
