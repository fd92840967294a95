// RecordObserver: whoever wants to know when a command buffer is recorded. Allocates what it likes; throws nothing.
// Threads: the one that records.
#pragma once

namespace reprise::detail {

class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  virtual void began() noexcept = 0;
  virtual void ended() noexcept = 0;  // by end() or reset(); also where nothing began
};

}  // namespace reprise::detail
