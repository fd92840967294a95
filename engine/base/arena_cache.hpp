// ArenaCache: hands out arenas that come back when their last owner is gone, so that recording
// again finds warm memory. Threads: any; the last owner of an arena may be on another thread than
// the one that took it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/arena.hpp"

namespace reprise::detail {

class ArenaCache : public std::enable_shared_from_this<ArenaCache> {
 public:
  static constexpr std::size_t kMaxIdle = 16;  // arenas kept; more are freed

  // An empty arena. It outlives the cache if it must.
  [[nodiscard]] std::shared_ptr<Arena> take();
  [[nodiscard]] std::size_t idle_count() const;

 private:
  void give_back(std::unique_ptr<Arena> arena) noexcept;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> idle_;
};

}  // namespace reprise::detail
