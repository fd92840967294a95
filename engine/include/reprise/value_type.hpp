// ValueType: the type of a kernel parameter or argument, to compare the two sides of a call that
// were compiled separately. Must not depend on a device. Threads: constants.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

struct ValueType {
  enum class Number : std::uint8_t { None, Bool, Signed, Unsigned, Floating };

  std::string_view name;         // without namespaces: "unsigned int", "float4"
  Number number = Number::None;  // None: a class or a pointer
  std::uint32_t size = 0;        // bytes
  std::uint32_t alignment = 1;   // bytes

  // Numbers are equal by kind and size, so that `long` equals `long long` and std::byte equals
  // `unsigned char`; everything else by name and size.
  friend constexpr bool operator==(const ValueType& a, const ValueType& b) noexcept {
    return a.number == b.number && a.size == b.size &&
           (a.number != Number::None || a.name == b.name);
  }
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

template <class T>
consteval std::string_view written_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = app::View; ...]", "... [T = ..."
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  const std::string_view head = text.substr(0, text.find('<'));  // arguments have namespaces too
  const auto colons = head.rfind("::");
  if (colons != std::string_view::npos) text.remove_prefix(colons + 2);
  return text;
}

template <class T>
consteval ValueType describe_type() {
  using Number = ValueType::Number;
  Number number = Number::None;
  if constexpr (std::is_same_v<T, bool>) {
    number = Number::Bool;
  } else if constexpr (std::is_floating_point_v<T>) {
    number = Number::Floating;
  } else if constexpr (std::is_enum_v<T>) {
    number = std::is_signed_v<std::underlying_type_t<T>> ? Number::Signed : Number::Unsigned;
  } else if constexpr (std::is_integral_v<T>) {
    number = std::is_signed_v<T> ? Number::Signed : Number::Unsigned;
  }
  return {written_name<T>(), number, sizeof(T), alignof(T)};
}

// The address identifies the type within a program or a library.
template <class T>
inline constexpr ValueType value_type = describe_type<std::remove_cv_t<T>>();

}  // namespace reprise::detail
