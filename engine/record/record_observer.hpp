// RecordObserver: whoever wants to know when a command buffer is recorded, and under which labels.
// Allocates what it likes; throws nothing. Threads: began() and ended() from the one that records;
// labels from all that record, each for itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  virtual void began() noexcept = 0;
  virtual void ended() noexcept = 0;  // by end() or reset(); also where nothing began
  // The result is what label_ended() gets, once: also where the recording goes before the label was
  // ended.
  [[nodiscard]] virtual std::uint64_t label_began(std::string_view name) noexcept = 0;
  virtual void label_ended(std::uint64_t label) noexcept = 0;
};

}  // namespace reprise::detail
