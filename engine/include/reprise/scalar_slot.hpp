// ScalarSlot: a named kernel argument whose value can be changed in a compiled graph
// (CapturedGraph::scalar). Must not depend on a device. Threads: values.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <reprise/buffer.hpp>

namespace reprise::inline REPRISE_ABI {

// An argument of Recorder::dispatch. Commands that use the same name share the slot; their types
// and initial values must agree.
template <class T>
struct ScalarSlot {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "kernel values are trivially copyable");
  std::string_view name;  // copied while recording
  T value;                // until GraphScalar::set
};
template <class T>
[[nodiscard]] ScalarSlot<T> slot(std::string_view name, T value) {
  return {name, value};
}

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
template <class T>
[[nodiscard]] Argument make_argument(const ScalarSlot<T>& argument) {
  return {.value = &argument.value,
          .slot = &argument.name,
          .type = &value_type<T>,
          .size = static_cast<std::uint32_t>(sizeof(T))};
}
}  // namespace reprise::detail
