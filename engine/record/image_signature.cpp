#include "record/image_signature.hpp"

#include <algorithm>
#include <cstring>

namespace reprise::detail {
namespace {

using Number = ValueType::Number;

bool is_valid(const SignatureParameter& parameter) {
  return parameter.number <= static_cast<std::uint8_t>(Number::Floating) &&
         std::find(std::begin(parameter.name), std::end(parameter.name), '\0') !=
             std::end(parameter.name);
}

ValueType type_of(const SignatureParameter& parameter) {
  const auto number = static_cast<Number>(parameter.number);
  return {number == Number::Bool ? "bool" : parameter.name, number, parameter.value_size,
          parameter.value_alignment};
}

}  // namespace

std::unique_ptr<const ImageSignature> ImageSignature::read(std::span<const std::byte> bytes) {
  const SignatureHeader expected;
  SignatureHeader header;
  if (bytes.size() < sizeof header) return nullptr;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  const std::span<const std::byte> stored = bytes.subspan(sizeof header);
  if (header.version != expected.version || header.parameter_bytes != expected.parameter_bytes ||
      header.count > stored.size() / sizeof(SignatureParameter))
    return nullptr;

  std::unique_ptr<ImageSignature> result(new ImageSignature);
  result->stored_.resize(header.count);
  if (header.count != 0) {
    std::memcpy(static_cast<void*>(result->stored_.data()), stored.data(),
                header.count * sizeof(SignatureParameter));
  }
  if (!std::all_of(result->stored_.begin(), result->stored_.end(), is_valid)) return nullptr;
  result->types_.reserve(header.count);  // parameters refer to the elements
  for (const SignatureParameter& from : result->stored_) {
    result->types_.push_back(type_of(from));
    KernelParameter& parameter = result->parameters_.emplace_back();
    parameter.offset = from.offset;
    parameter.size = from.size;
    parameter.is_pointer = from.is_pointer;
    parameter.is_condition = from.is_condition;
    parameter.is_const = from.is_const;
    if (from.value_size != 0) parameter.type = &result->types_.back();
  }
  return result;
}

}  // namespace reprise::detail
