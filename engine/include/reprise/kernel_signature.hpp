// KernelSignature: the parameters of a kernel as nvcc sees them, which REPRISE_KERNEL stores in the
// image. Device::load_kernel() reads it for kernels that only nvcc compiles; all others have the
// table of the C++ compiler. Must compile for devices and as C++17. Threads: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

// A KernelParameter with its type, without pointers. Offsets, sizes and alignments are in bytes.
struct SignatureParameter {
  static constexpr std::size_t kNameBytes = 40;

  std::uint32_t offset = 0, size = 0;
  std::uint32_t value_size = 0, value_alignment = 0;  // of the ValueType; 0: unknown
  std::uint8_t number = 0;                            // ValueType::Number
  bool is_pointer = false, is_condition = false, is_const = false;
  char name[kNameBytes] = {};  // without namespaces, with a zero at the end
};

struct SignatureHeader {
  std::uint32_t version = 1;
  std::uint32_t parameter_bytes = sizeof(SignatureParameter);
  std::uint32_t count = 0;
};

template <std::size_t N>
struct KernelSignature {
  SignatureHeader header{1, sizeof(SignatureParameter), N};
  SignatureParameter parameters[N == 0 ? 1 : N] = {};  // right behind the header
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

// The name of T between "T =" and the next ";" or "]" of `text`, without namespaces. Template
// arguments and unnamed types are written differently by each compiler, which returns false.
template <class T>
constexpr bool write_name(char (&name)[SignatureParameter::kNameBytes]) {
  const char* at = __PRETTY_FUNCTION__;
  while (*at != '\0' && !(at[0] == 'T' && (at[1] == '=' || (at[1] == ' ' && at[2] == '=')))) ++at;
  while (*at != '\0' && *at++ != '=') {
  }
  while (*at == ' ') ++at;
  std::size_t length = 0;
  bool is_plain = true;
  for (; *at != '\0' && *at != ';' && *at != ']'; ++at) {
    if (*at == ':') {
      length = 0;
      is_plain = true;
    } else if (length + 1 == sizeof name || *at == '<' || *at == '>' || *at == '(' || *at == ')' ||
               *at == '{' || *at == '}') {
      is_plain = false;
    } else {
      name[length++] = *at;
    }
  }
  for (std::size_t i = length; i < sizeof name; ++i) name[i] = '\0';
  return is_plain && length != 0;
}

// As describe_type() in value_type.hpp.
template <class T>
constexpr std::uint8_t number_of() {
  if constexpr (std::is_same_v<T, bool>)
    return 1;
  else if constexpr (std::is_floating_point_v<T>)
    return 4;
  else if constexpr (std::is_enum_v<T>)
    return std::is_signed_v<std::underlying_type_t<T>> ? 2 : 3;
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? 2 : 3;
  else
    return 0;
}

template <class Value>
constexpr void describe_value(SignatureParameter& parameter) {
  if constexpr (!std::is_void_v<Value> && !std::is_function_v<Value>) {
    parameter.number = number_of<Value>();
    if (!write_name<Value>(parameter.name) && parameter.number == 0) return;
    parameter.value_size = sizeof(Value);
    parameter.value_alignment = alignof(Value);
  }
}

template <class T>
constexpr SignatureParameter describe_parameter(std::size_t end, bool is_condition) {
  using Element = std::remove_pointer_t<T>;
  SignatureParameter parameter;
  parameter.offset = static_cast<std::uint32_t>((end + alignof(T) - 1) / alignof(T) * alignof(T));
  parameter.size = sizeof(T);
  parameter.is_pointer = std::is_pointer_v<T>;
  parameter.is_condition = is_condition;
  parameter.is_const = parameter.is_pointer && std::is_const_v<Element>;
  describe_value<std::remove_cv_t<Element>>(parameter);
  return parameter;
}

template <class ConditionType, class... Parameters>
constexpr KernelSignature<sizeof...(Parameters)> signature_of(void (*)(Parameters...)) {
  KernelSignature<sizeof...(Parameters)> signature;
  [[maybe_unused]] std::size_t index = 0, end = 0;
  ((signature.parameters[index] =
        describe_parameter<Parameters>(end, std::is_same_v<Parameters, ConditionType>),
    end = signature.parameters[index].offset + sizeof(Parameters), ++index),
   ...);
  return signature;
}

}  // namespace reprise::detail
