// The exception of trace readers, writers and connections. Knows nothing about the engine. Threads:
// values.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace reprise::trace {

enum class TraceErrorCode : std::uint8_t {
  Io,         // the operating system reported an error; the text contains the path and the reason
  NotATrace,  // the first bytes are not those of a trace
  WrongVersion,  // written by another format version
  Corrupt,       // malformed bytes
  TooLarge,      // a size above the reader's limit
  NotAllowed     // refused by policy, for example TCP without a token
};

class TraceError : public std::runtime_error {
 public:
  TraceError(TraceErrorCode code, const std::string& text)
      : std::runtime_error(text), code_(code) {}
  [[nodiscard]] TraceErrorCode code() const noexcept { return code_; }

 private:
  TraceErrorCode code_;
};

[[noreturn]] inline void throw_corrupt(const std::string& what) {
  throw TraceError(TraceErrorCode::Corrupt, "corrupt trace: " + what);
}

// Throws Io with the path, the failed operation and the text of errno.
[[noreturn]] inline void throw_io_error(const std::filesystem::path& path, const char* what) {
  throw TraceError(TraceErrorCode::Io, path.string() + ": " + what + ": " + std::strerror(errno));
}

}  // namespace reprise::trace
