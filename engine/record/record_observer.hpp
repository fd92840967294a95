// RecordObserver: receives the start and end of recordings and of labels. May allocate; must not
// throw. Threads: started() and ended() on the recording thread; labels on every recording thread,
// per recorder.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  virtual void started() noexcept = 0;
  virtual void ended() noexcept = 0;  // after end() or reset(), even without a started()
  // The result is passed to label_ended() exactly once, even if the recording is dropped while the
  // label is open.
  [[nodiscard]] virtual std::uint64_t label_began(std::string_view name) noexcept = 0;
  virtual void label_ended(std::uint64_t label) noexcept = 0;
};

}  // namespace reprise::detail
