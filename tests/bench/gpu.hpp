// The GPU to measure. Threads: any.
#pragma once

#include <cstdio>
#include <string>

#include <reprise/instance.hpp>

namespace reprise::bench {

// Returns whether there is a GPU; otherwise prints the reason.
[[nodiscard]] inline bool finds_gpu(const Instance& instance) {
  const std::string reason = instance.gpu_unavailable_reason();
  if (!reason.empty()) std::printf("  skipped: %s\n", reason.c_str());
  return reason.empty();
}

}  // namespace reprise::bench
