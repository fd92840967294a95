// Condition: a number that kernels set while a graph runs, and by which one command decides what
// runs next. A kernel takes it as a reprise_condition and sets it with reprise_set_condition
// (<reprise_kernel.hpp>):
//   REPRISE_KERNEL(check, (const float* rr, float least, reprise_condition go)) {
//   reprise_set_condition(go, *rr > least); } commands.dispatch(shaders_check, {}, read(rr), least,
//   go); commands.execute_while(go, iteration);
// Every executable graph has a value of its own, which each replay begins with `initial`. Setting
// it is a write and deciding by it a read: the order follows as it does for buffers. A kernel sets
// it from one thread. Threads: handles are values.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <reprise/buffer.hpp>

namespace reprise {

struct ConditionDesc {
  std::string_view name = "condition";
  std::uint32_t initial = 0;  // at the begin of each replay
};

class Condition {
 public:
  Condition() = default;
  explicit Condition(BufferView view) noexcept : view_(std::move(view)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(view_); }
  [[nodiscard]] std::string_view name() const noexcept { return view_.name(); }
  // How a recording knows it: no memory, and nothing but a kernel's argument or what decides a
  // conditional.
  [[nodiscard]] const BufferView& view() const noexcept { return view_; }

 private:
  BufferView view_;
};

namespace detail {

[[nodiscard]] inline Argument make_argument(const Condition& condition) noexcept {
  return {&condition.view(), Access::Write, nullptr, 0};
}

}  // namespace detail
}  // namespace reprise
