// A fake CUPTI: calls the subscriber for its enabled callbacks and delivers records of enabled
// kinds. One at a time, because CUPTI's calls have no user data. Threads: any.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/activity/cupti_library.hpp"

namespace reprise::test {

inline constexpr std::uint32_t kHandMadeExecId = 12;  // default for executables

// A record of one run of one node. `name` must outlive it.
struct HandMadeRecord {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;  // or MEMCPY, MEMSET
  std::uint64_t node = 0;
  std::uint32_t correlation = 0, stream = 1;
  std::uint64_t started = 0, ended = 0;
  const char* kernel = nullptr;
};

class HandMadeCupti {
 public:
  HandMadeCupti();
  HandMadeCupti(const HandMadeCupti&) = delete;
  HandMadeCupti& operator=(const HandMadeCupti&) = delete;
  ~HandMadeCupti();

  [[nodiscard]] const detail::CuptiLibrary& library() const noexcept { return library_; }
  CUptiResult subscription = CUPTI_SUCCESS;  // result of subscribing

  void set_exec_id(CUgraphExec exec, std::uint32_t id);
  // Calls the subscriber if it enabled the callback.
  void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  // Queues a record for the next flush; ignored if its kind is disabled.
  void add(const HandMadeRecord& record);
  [[nodiscard]] bool records_kernels();

 private:
  void flush();
  [[nodiscard]] std::uint32_t exec_id(CUgraphExec exec);

  detail::CuptiLibrary library_;
  std::mutex mutex_;  // guards the members below
  CUpti_CallbackFunc subscriber_ = nullptr;
  void* of_subscriber_ = nullptr;
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> wanted_;
  std::set<CUpti_ActivityKind> kinds_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::vector<HandMadeRecord> waiting_;
  std::unordered_map<CUgraphExec, std::uint32_t> exec_ids_;
};

}  // namespace reprise::test
