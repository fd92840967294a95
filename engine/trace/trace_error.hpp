// What reading and writing traces throws. Knows no engine: the viewer uses this too. Threads:
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
  Io,         // the operating system refused: the text has the path and its reason
  NotATrace,  // the first bytes are not those of a trace
  TooNew,     // written by a later format version
  Corrupt,    // bytes that no writer of ours made
  TooLarge,   // a size beyond what a reader allocates
  NotAllowed  // asked for what is never done: a session on TCP without a token
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

// What was tried of the file, and errno's reason.
[[noreturn]] inline void throw_io_error(const std::filesystem::path& path, const char* what) {
  throw TraceError(TraceErrorCode::Io, path.string() + ": " + what + ": " + std::strerror(errno));
}

}  // namespace reprise::trace
