// CUPTI as a program uses it that has nothing else in mind: kernel, copy and fill records of all
// that runs while it lives, counted and dropped. The peer of our own profiling. Nothing of CUDA's
// may be launched that was there before. Threads: one.
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

  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }  // empty: it works
  [[nodiscard]] std::uint64_t records();                                          // so far

 private:
  std::optional<detail::CuptiLibrary> cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::string why_not_;
};

}  // namespace reprise::bench
