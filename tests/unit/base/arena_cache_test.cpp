#include "base/arena_cache.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using reprise::detail::Arena;
using reprise::detail::ArenaCache;

TEST_CASE("arena cache: an arena returns empty after its last reference is released") {
  const auto cache = std::make_shared<ArenaCache>();
  std::shared_ptr<Arena> arena = cache->take();
  Arena* const first = arena.get();
  static_cast<void>(arena->allocate(100000, 8));
  std::shared_ptr<const Arena> other = arena;
  arena.reset();
  CHECK(cache->idle_count() == 0);
  other.reset();
  CHECK(cache->idle_count() == 1);
  CHECK(cache->take().get() == first);
}

TEST_CASE("arena cache: an arena may outlive its cache") {
  auto cache = std::make_shared<ArenaCache>();
  std::shared_ptr<Arena> arena = cache->take();
  cache.reset();
  CHECK(arena->allocate(10, 1) != nullptr);
}

TEST_CASE("arena cache: it keeps at most kMaxIdle idle arenas") {
  const auto cache = std::make_shared<ArenaCache>();
  std::vector<std::shared_ptr<Arena>> arenas;
  for (std::size_t i = 0; i < 2 * ArenaCache::kMaxIdle; ++i) arenas.push_back(cache->take());
  arenas.clear();
  CHECK(cache->idle_count() == ArenaCache::kMaxIdle);
}

TEST_CASE("arena cache: threads take and return arenas concurrently") {
  const auto cache = std::make_shared<ArenaCache>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (int i = 0; i < 200; ++i) *static_cast<int*>(cache->take()->allocate(64, 8)) = i;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(cache->idle_count() >= 1);
  CHECK(cache->idle_count() <= 4);
}
