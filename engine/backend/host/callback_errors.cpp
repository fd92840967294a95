#include "backend/host/callback_errors.hpp"

#include <algorithm>

namespace reprise::detail {

void CallbackErrors::add(std::uint64_t replay, std::exception_ptr error) noexcept {
  std::lock_guard lock(mutex_);
  if (errors_.empty() || errors_.back().first < replay)
    errors_.emplace_back(replay, std::move(error));
}

std::exception_ptr CallbackErrors::of(std::uint64_t replay) const {
  std::lock_guard lock(mutex_);
  const auto found =
      std::lower_bound(errors_.begin(), errors_.end(), replay,
                       [](const auto& entry, std::uint64_t r) { return entry.first < r; });
  return found != errors_.end() && found->first == replay ? found->second : nullptr;
}

}  // namespace reprise::detail
