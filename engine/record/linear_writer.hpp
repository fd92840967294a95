// LinearWriter: makes a recording of commands of another one, in any order, and of commands that
// the engine adds between them. Knows no device. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};

class LinearWriter {
 public:
  // `buffers`: those of the new recording. The first ones replace the buffers of `from`.
  LinearWriter(const Recording& from, std::vector<std::shared_ptr<BufferCore>> buffers);

  void add(std::uint32_t command) { into_->commands.push_back(from_.commands[command]); }
  // Buffers are indices in `buffers`. Empty ranges add nothing.
  void fill(std::uint32_t buffer, const ByteRange& range, std::uint8_t value);
  void copy(std::uint32_t buffer, const ByteRange& range, std::uint32_t into, std::uint64_t offset);
  // An index for DispatchPayload::kernel.
  [[nodiscard]] std::uint32_t add_kernel(std::shared_ptr<const KernelCore> kernel);
  // `dispatch` may refer to memory of the caller: it is copied.
  void dispatch(const DispatchPayload& dispatch, std::span<const BufferAccess> accesses);

  // Ordering::Linear. The writer is then used up.
  [[nodiscard]] std::shared_ptr<const Recording> finish() { return std::move(into_); }

 private:
  void append(CommandKind kind, const void* payload, std::span<const BufferAccess> accesses);

  const Recording& from_;
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  std::shared_ptr<Recording> into_;
};

}  // namespace reprise::detail
