// A feed that a test watches, and records that it receives.
#pragma once

#include <doctest/doctest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "model/trace_feed.hpp"
#include "support/paths.hpp"
#include "trace/trace_writer.hpp"

namespace reprise::test {

inline constexpr double kHangSeconds = 60;
inline constexpr model::GraphKey kStep{3, 1};

// A feed, and a way to wait for its notifications.
class Watched {
 public:
  explicit Watched(std::string target, std::string token = {})
      : feed({.target = std::move(target), .token = std::move(token), .on_change = [this] {
                const std::lock_guard lock(mutex_);
                ++changes_;
                changed_.notify_all();
              }}) {}

  template <class Holds>
  [[nodiscard]] bool wait(Holds holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(kHangSeconds),
                             [&] { return holds(feed.status(), *feed.document()); });
  }
  [[nodiscard]] bool wait_for(model::FeedState state) {
    return wait([state](const model::FeedStatus& status, const model::Document&) {
      return status.state == state;
    });
  }
  [[nodiscard]] bool wait_for_replays(std::size_t count) {
    return wait([count](const model::FeedStatus&, const model::Document& document) {
      const model::GraphEntry* entry = document.find(kStep);
      return entry != nullptr && entry->replays.size() == count;
    });
  }
  [[nodiscard]] bool wait_for_samples(std::uint64_t count) {
    return wait([count](const model::FeedStatus&, const model::Document& document) {
      const model::GraphEntry* entry = document.find(kStep);
      return entry != nullptr && entry->statistics->samples == count;
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t changes_ = 0;

 public:
  model::TraceFeed feed;  // declared last: it sends notifications until it is destroyed
};

inline std::filesystem::path fresh_file(const char* name) {
  const std::filesystem::path path = scratch_folder() / name;
  std::filesystem::remove(path);
  return path;
}

inline void push_all(trace::TraceWriter& writer, trace::Records records) {
  for (auto& r : records.sessions) REQUIRE(writer.push(std::move(r)));
  for (auto& r : records.graph_versions) REQUIRE(writer.push(std::move(r)));
  for (auto& r : records.clocks) REQUIRE(writer.push(r));
  for (auto& r : records.devices) REQUIRE(writer.push(std::move(r)));
  for (auto& r : records.clock_exchanges) REQUIRE(writer.push(r));
  for (auto& r : records.replays) REQUIRE(writer.push(std::move(r)));
  for (auto& r : records.sample_blocks) REQUIRE(writer.push(std::move(r)));
}

}  // namespace reprise::test
