// Plain CUPTI: counts and drops the kernel, copy and fill records of everything that runs during
// its lifetime. The peer of Reprise's profiling. CUDA executables created before it must not be
// launched meanwhile. Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/activity/cupti_library.hpp"

namespace reprise::bench {

class RawCupti {
 public:
  RawCupti();
  RawCupti(const RawCupti&) = delete;
  RawCupti& operator=(const RawCupti&) = delete;
  ~RawCupti();

  // empty if CUPTI works
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] std::uint64_t records();  // so far

 private:
  std::optional<detail::CuptiLibrary> cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::string error_;
};

}  // namespace reprise::bench
