#include "injection/gpu_dump.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

void (*flush_before_abort)() = nullptr;
struct sigaction action_before_abort;

void on_abort(int signal) {
  flush_before_abort();
  // The raised signal is delivered when this handler returns.
  ::sigaction(signal, &action_before_abort, nullptr);
  ::raise(signal);
}

}  // namespace

void flush_at_abort(void (*flush)()) {
  flush_before_abort = flush;
  struct sigaction action = {};
  action.sa_handler = &on_abort;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGABRT, &action, &action_before_abort);
}

std::string request_gpu_dump() {
  const char* const pattern = ::secure_getenv("CUDA_COREDUMP_PIPE");
  if (pattern == nullptr) return "CUDA_COREDUMP_PIPE is not set";
  std::string path;
  for (const char* at = pattern; *at != '\0'; ++at) {
    char host[HOST_NAME_MAX + 1] = "";
    switch (*at == '%' ? at[1] : '\0') {
      case 'p': path += std::to_string(::getpid()); break;
      case 'h':
        static_cast<void>(::gethostname(host, sizeof host - 1));
        path += host;
        break;
      case '\0': path += *at; continue;
      default: return concat("CUDA_COREDUMP_PIPE is ", pattern, ": only %p and %h are supported");
    }
    ++at;
  }
  const int pipe = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (pipe < 0)
    return concat("the driver reads no pipe ", path, ": ", std::strerror(errno),
                  " (dumps on request are unavailable under another debugger, MPS and in some "
                  "containers)");
  // Any number of bytes is a request; a page passes every buffer.
  static constexpr std::array<char, 4096> kRequest{};
  const ssize_t written = ::write(pipe, kRequest.data(), kRequest.size());
  const int reason = errno;
  ::close(pipe);
  return written > 0 ? std::string()
                     : concat("cannot write to ", path, ": ", std::strerror(reason));
}

}  // namespace reprise::detail
