// DevSliceArg: application types that push themselves as kernel arguments, for example a matrix
// with its sizes. LaunchArgs: the list that they push to. Must not depend on a device. Threads: as
// the recorder that the arguments are for.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/buffer.hpp>

namespace reprise {

// validate() throws if the argument cannot be used, and returns an owner that is held until the
// last launch with this argument has completed. push() pushes one or more kernel arguments, in the
// kernel's order.
template <class A>
concept DevSliceArg = requires(const A& arg, LaunchArgs& args) {
  { arg.validate() } -> std::convertible_to<std::shared_ptr<const void>>;
  arg.push(args);
};

// The arguments of one dispatch, in the kernel's order. Copies values.
class LaunchArgs {
 public:
  LaunchArgs() = default;
  LaunchArgs(const LaunchArgs&) = delete;
  LaunchArgs& operator=(const LaunchArgs&) = delete;

  void push(AccessedView view) {
    arguments_.push_back(detail::make_argument(views_.emplace_back(std::move(view))));
  }
  // Any argument that Recorder::dispatch takes.
  template <class T>
  void push(const T& argument) {
    if constexpr (DevSliceArg<T>) {
      owners_.push_back(argument.validate());
      argument.push(*this);
    } else {
      detail::Argument value = detail::make_argument(argument);
      std::vector<std::byte>& bytes = values_.emplace_back(value.size);
      std::memcpy(bytes.data(), value.value, value.size);
      value.value = bytes.data();
      arguments_.push_back(value);
    }
  }

  [[nodiscard]] std::span<const detail::Argument> arguments() const noexcept { return arguments_; }
  [[nodiscard]] std::span<const std::shared_ptr<const void>> owners() const noexcept {
    return owners_;
  }

 private:
  std::vector<detail::Argument> arguments_;    // point into views_ and values_
  std::deque<AccessedView> views_;             // stable addresses
  std::deque<std::vector<std::byte>> values_;  // stable addresses
  std::vector<std::shared_ptr<const void>> owners_;
};

template <class T>
void GpuRef<T>::push(LaunchArgs& args) const {
  args.push(AccessedView{*this, std::is_const_v<T> ? Access::Read : Access::ReadWrite});
}
template <class T>
void HostRef<T>::push(LaunchArgs& args) const {
  args.push(AccessedView{*this, std::is_const_v<T> ? Access::Read : Access::ReadWrite});
}

}  // namespace reprise
