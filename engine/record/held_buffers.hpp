// HeldBuffers: the buffers that a recorder or a recording references, in order of first use. Each
// is counted in BufferCore::recorded. Threads: one thread at a time; any thread may read the count.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "record/buffer_core.hpp"

namespace reprise::detail {

class HeldBuffers {
 public:
  HeldBuffers() = default;
  explicit HeldBuffers(const std::vector<std::shared_ptr<BufferCore>>& buffers);
  HeldBuffers(const HeldBuffers&) = delete;
  HeldBuffers& operator=(const HeldBuffers&) = delete;
  HeldBuffers(HeldBuffers&& other) noexcept : list_(std::move(other.list_)) { other.list_.clear(); }
  HeldBuffers& operator=(HeldBuffers&& other) noexcept;
  ~HeldBuffers() { truncate(0); }

  void add(const std::shared_ptr<BufferCore>& buffer);  // strong guarantee
  void truncate(std::size_t count) noexcept;            // releases all but the first `count`
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
  [[nodiscard]] const std::vector<std::shared_ptr<BufferCore>>& list() const noexcept {
    return list_;
  }

 private:
  std::vector<std::shared_ptr<BufferCore>> list_;
};

}  // namespace reprise::detail
