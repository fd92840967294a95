// ArenaCache: a pool of arenas. An arena returns to the cache when its last owner releases it, so a
// new recording reuses warm memory. Threads: any; any thread may release the last reference to an
// arena.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/arena.hpp"

namespace reprise::detail {

class ArenaCache : public std::enable_shared_from_this<ArenaCache> {
 public:
  static constexpr std::size_t kMaxIdle = 16;  // further arenas are freed on release

  // Returns an empty arena. The arena may outlive the cache.
  [[nodiscard]] std::shared_ptr<Arena> take();
  [[nodiscard]] std::size_t idle_count() const;

 private:
  void return_arena(std::unique_ptr<Arena> arena) noexcept;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> idle_;
};

}  // namespace reprise::detail
