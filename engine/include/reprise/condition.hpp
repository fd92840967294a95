// Condition: a number that kernels set during a replay and that decides which commands run next.
// Threads: handles are values.
//
// A kernel takes the condition as a reprise_condition and sets it with reprise_set_condition
// (<reprise_kernel.hpp>):
//
//   REPRISE_KERNEL(check, (const float* residual, float limit, reprise_condition go)) {
//     reprise_set_condition(go, *residual > limit);
//   }
//
//   commands.dispatch(check, {}, read(residual), limit, go);
//   commands.execute_while(go, body);
//
// Each executable has its own value, which is `initial` at the start of each replay. Setting it is
// a write and deciding by it is a read, so commands are ordered as for a buffer. One thread of a
// kernel sets it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <reprise/buffer.hpp>

namespace reprise::inline REPRISE_ABI {

struct ConditionDesc {
  std::string_view name = "condition";
  std::uint32_t initial = 0;  // value at the start of each replay
};

// A reference-counted handle.
class REPRISE_API Condition {
 public:
  Condition() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(view_); }
  [[nodiscard]] std::string_view name() const noexcept { return view_.name(); }
  // Its representation in a recording. Has no memory: usable as an argument for a
  // reprise_condition, to decide a conditional command, and in a barrier. Copies, fills, updates,
  // host callbacks, ops and bindings refuse it (InvalidArgument), and so does everything that
  // needs an address (Unsupported).
  [[nodiscard]] const BufferView& view() const noexcept { return view_; }

 private:
  friend struct detail::HandleAccess;
  explicit Condition(BufferView view) noexcept : view_(std::move(view)) {}

  BufferView view_;
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

[[nodiscard]] inline Argument make_argument(const Condition& condition) noexcept {
  return {.view = &condition.view(), .access = Access::Write};
}

}  // namespace reprise::detail
