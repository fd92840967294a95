#include "cli/progress_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/text.hpp"

namespace reprise::cli {

namespace {

// Delay before the first output, and the update interval.
constexpr std::chrono::milliseconds kFirstDelay{300}, kInterval{100};

}  // namespace

ProgressLine::ProgressLine(std::string what)
    : what_(printable(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + kFirstDelay) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::update(std::uint64_t done, std::uint64_t total) {
  if (!terminal_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  std::fprintf(stderr, "\r\x1b[K%s: %3.0f %%", what_.c_str(),
               100.0 * static_cast<double>(done) / static_cast<double>(total));
  std::fflush(stderr);
}

}  // namespace reprise::cli
