// ScalarSlot: a value of a kernel that a compiled graph can be given anew between replays, by its
// name: CapturedGraph::scalar. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <reprise/buffer.hpp>

namespace reprise {

// An argument of dispatch(). One name may be given to several commands: they share the slot, its
// type and its first value.
template <class T>
struct ScalarSlot {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "kernel values are trivially copyable");
  std::string_view name;  // taken while recording
  T value;                // until the graph is told otherwise
};
template <class T>
[[nodiscard]] ScalarSlot<T> slot(std::string_view name, T value) {
  return {name, value};
}

namespace detail {
template <class T>
[[nodiscard]] Argument make_argument(const ScalarSlot<T>& argument) {
  return {nullptr, Access::Read, &argument.value, static_cast<std::uint32_t>(sizeof(T)),
          &argument.name};
}
}  // namespace detail

}  // namespace reprise
