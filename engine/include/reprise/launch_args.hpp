// DevSliceArg: application types that push themselves as kernel arguments, for example a matrix
// with its sizes. LaunchArgs: the list that they push to. Must not depend on a device. Threads: as
// the recorder that the arguments are for.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>

#include <reprise/buffer.hpp>
#include <reprise/condition.hpp>
#include <reprise/scalar_slot.hpp>

namespace reprise::inline REPRISE_ABI {

// validate() throws if the argument cannot be used, and returns an owner that is held until the
// last launch with this argument has completed. push() pushes one or more kernel arguments, in the
// kernel's order.
template <class A>
concept DevSliceArg = requires(const A& arg, LaunchArgs& args) {
  { arg.validate() } -> std::convertible_to<std::shared_ptr<const void>>;
  arg.push(args);
};

// The arguments of one dispatch, in the kernel's order. Copies views and values; the last launch of
// every graph with the dispatch releases the owners.
class REPRISE_API LaunchArgs {
 public:
  LaunchArgs();
  LaunchArgs(const LaunchArgs&) = delete;
  LaunchArgs& operator=(const LaunchArgs&) = delete;
  ~LaunchArgs();

  void push(AccessedView view);
  void push(const AccessedRef& ref) { push(AccessedView(ref)); }
  // Any argument that Recorder::dispatch takes.
  template <class T>
  void push(const T& argument) {
    if constexpr (DevSliceArg<T>) {
      push_owner(argument.validate());
      argument.push(*this);
    } else {
      push_value(detail::make_argument(argument));
    }
  }

 private:
  friend class Recorder;
  friend struct detail::HandleAccess;
  // Both are valid until the next push.
  [[nodiscard]] std::span<const detail::Argument> arguments() const noexcept;
  [[nodiscard]] std::span<const std::shared_ptr<const void>> owners() const noexcept;
  void push_owner(std::shared_ptr<const void> owner);
  void push_value(const detail::Argument& argument);

  struct Storage;
  std::unique_ptr<Storage> storage_;
};

template <class T>
void GpuRef<T>::push(LaunchArgs& args) const {
  args.push(detail::undeclared(*this));
}
template <class T>
void HostRef<T>::push(LaunchArgs& args) const {
  args.push(detail::undeclared(*this));
}

}  // namespace reprise::inline REPRISE_ABI
