// CallbackErrors: the exceptions of an executable's host callbacks, by replay. Threads: any thread.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace reprise::detail {

class CallbackErrors {
 public:
  // Keeps the first error of each replay for the lifetime of this object. Replays ascend.
  void add(std::uint64_t replay, std::exception_ptr error) noexcept;
  // Null if none was added.
  [[nodiscard]] std::exception_ptr of(std::uint64_t replay) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::exception_ptr>> errors_;  // ascending
};

}  // namespace reprise::detail
