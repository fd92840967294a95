#include "base/arena_cache.hpp"

#include <utility>

namespace reprise::detail {

std::shared_ptr<Arena> ArenaCache::take() {
  std::unique_ptr<Arena> arena;
  {
    const std::lock_guard lock(mutex_);
    idle_.reserve(kMaxIdle);
    if (!idle_.empty()) {
      arena = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!arena) arena = std::make_unique<Arena>();
  // shared_ptr runs the deleter even if allocating its control block fails.
  return {arena.release(), [cache = weak_from_this()](Arena* returned) {
            std::unique_ptr<Arena> owned(returned);
            if (const auto alive = cache.lock()) alive->return_arena(std::move(owned));
          }};
}

std::size_t ArenaCache::idle_count() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

void ArenaCache::return_arena(std::unique_ptr<Arena> arena) noexcept {
  arena->reset();
  const std::lock_guard lock(mutex_);
  if (idle_.size() < idle_.capacity() && idle_.size() < kMaxIdle) idle_.push_back(std::move(arena));
}

}  // namespace reprise::detail
