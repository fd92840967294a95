#include "record/kernel_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/handle_access.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

using Number = ValueType::Number;

// Holds every 64-bit integer and every double.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64);

template <class T>
Wide load_as(const void* value) {
  T number;
  std::memcpy(&number, value, sizeof number);
  return static_cast<Wide>(number);
}
template <class T>
bool store_as(Wide number, void* to) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::abs(number) > static_cast<Wide>(std::numeric_limits<T>::max()) && !std::isinf(number))
      return false;
  } else {
    if (!(number >= static_cast<Wide>(std::numeric_limits<T>::min()) &&
          number <= static_cast<Wide>(std::numeric_limits<T>::max())))
      return false;
  }
  const auto stored = static_cast<T>(number);
  if (static_cast<Wide>(stored) != number && !std::isnan(number)) return false;
  if (to != nullptr) std::memcpy(to, &stored, sizeof stored);
  return true;
}

// Calls `with` with a value of the type; false if it is no number.
template <class F>
bool visit_number(const ValueType& type, F&& with) {
  switch (type.number) {
    case Number::None: return false;
    case Number::Bool: return with(false);
    case Number::Signed:
      switch (type.size) {
        case 1: return with(std::int8_t{});
        case 2: return with(std::int16_t{});
        case 4: return with(std::int32_t{});
        case 8: return with(std::int64_t{});
        default: return false;
      }
    case Number::Unsigned:
      switch (type.size) {
        case 1: return with(std::uint8_t{});
        case 2: return with(std::uint16_t{});
        case 4: return with(std::uint32_t{});
        case 8: return with(std::uint64_t{});
        default: return false;
      }
    case Number::Floating:
      if (type.size == sizeof(float)) return with(0.0f);
      return type.size == sizeof(double) && with(0.0);
  }
  return false;
}

// Converts a number; false if `to` does not represent it exactly. `result`: null to only check.
bool convert(const ValueType& from, const void* value, const ValueType& to, void* result) {
  Wide number = 0;
  return visit_number(from,
                      [&]<class T>(T) {
                        number = load_as<T>(value);
                        return true;
                      }) &&
         visit_number(to, [&]<class T>(T) { return store_as<T>(number, result); });
}

std::string number_text(const Argument& argument) {
  Wide number = 0;
  if (!visit_number(*argument.type, [&]<class T>(T) {
        number = load_as<T>(argument.value);
        return true;
      }))
    return {};
  char text[48];
  std::snprintf(text, sizeof text, " %.17Lg", number);
  return text;
}

std::string pointer_text(const KernelParameter& parameter) {
  return concat(parameter.is_const ? "const " : "", parameter.type->name, "*");
}

std::string buffer_name(const Argument& argument) {
  return *argument.view ? display_name(*core_of(*argument.view)) : std::string("an empty buffer");
}

bool is_condition(const Argument& argument) {
  return argument.view != nullptr && *argument.view &&
         core_of(*argument.view)->kind == BufferKind::Condition;
}

// Without text: the argument fits.
ArgumentFault fault_of(const KernelParameter& parameter, const Argument& argument) {
  constexpr ErrorCode kSize = ErrorCode::ArgumentSize, kType = ErrorCode::ArgumentType;
  if (parameter.is_condition) {
    if (is_condition(argument)) return {};
    return {kSize, "expected a Condition; make one with Device::create_condition"};
  }
  if (parameter.is_pointer && argument.view == nullptr) {
    return {kSize, concat("expected a buffer, got a value of ", argument.size,
                          " bytes; pass read(x), write(x) or read_write(x)")};
  }
  if (parameter.is_pointer && is_condition(argument)) {
    return {kSize, concat("expected a buffer, got condition ", buffer_name(argument),
                          "; declare the parameter as reprise_condition")};
  }
  if (!parameter.is_pointer && !parameter.may_be_pointer && argument.view != nullptr) {
    return {kSize, concat("expected a value of ", parameter.size, " bytes, got buffer ",
                          buffer_name(argument))};
  }
  if (fits(parameter, argument)) return {};
  if (!parameter.is_pointer && (parameter.type == nullptr || argument.type == nullptr)) {
    return {kSize, concat("expected a value of ", parameter.size, " bytes, got one of ",
                          argument.size, "; convert it to the kernel's parameter type")};
  }
  if (!parameter.is_pointer) {
    if (argument.type->number == Number::None || parameter.type->number == Number::None ||
        argument.slot != nullptr) {
      const ValueType &wanted = *parameter.type, &got = *argument.type;
      const std::string sizes =
          got.size == wanted.size ? "" : concat(" (", got.size, " bytes, not ", wanted.size, ")");
      return {kType, concat("expected ", wanted.name, ", got ",
                            argument.slot != nullptr ? "a slot of " : "", got.name, sizes,
                            "; pass the parameter's type")};
    }
    return {kType, concat("expected ", parameter.type->name, ", got ", argument.type->name,
                          number_text(argument), ", which ", parameter.type->name,
                          " does not represent; convert it before the call")};
  }
  if (parameter.is_const && argument.is_declared && writes(argument.access)) {
    return {kType, concat("the kernel declares ", pointer_text(parameter), " and the call ",
                          argument.access == Access::Write ? "write" : "read_write", "(",
                          buffer_name(argument), "); pass read(x)")};
  }
  if (argument.type == nullptr) {
    return {kType, concat("the kernel declares ", pointer_text(parameter), ", and the bytes of ",
                          buffer_name(argument), " start at offset ", argument.view->offset(),
                          ", which is not a multiple of ", parameter.type->alignment)};
  }
  return {kType, concat("the kernel declares ", pointer_text(parameter), ", and ",
                        buffer_name(argument), " holds ", argument.type->name, "; pass x.as<",
                        parameter.type->name, ">() if that is intended")};
}

}  // namespace

std::string launch_fault(const KernelCore& kernel, const Dim3& grid, const Dim3& block,
                         std::uint32_t shared_bytes, const DeviceLimits& limits) {
  const auto text_of = [](const Dim3& size) {
    return concat(size.x, " x ", size.y, " x ", size.z);
  };
  const auto exceeds = [](const Dim3& size, const Dim3& max) {
    return size.x > max.x || size.y > max.y || size.z > max.z;
  };
  if (grid.volume() == 0 || block.volume() == 0) {
    return concat("the grid of ", text_of(grid), " blocks or the block of ", text_of(block),
                  " threads is empty");
  }
  if (exceeds(grid, limits.max_grid)) {
    return concat("the grid of ", text_of(grid), " blocks exceeds the device's ",
                  text_of(limits.max_grid));
  }
  if (exceeds(block, limits.max_block)) {
    return concat("the block of ", text_of(block), " threads exceeds the device's ",
                  text_of(limits.max_block));
  }
  const std::uint32_t max_threads =
      kernel.max_block_threads == 0 ? limits.max_block_threads
                                    : std::min(kernel.max_block_threads, limits.max_block_threads);
  if (block.volume() > max_threads)
    return concat("the block has ", block.volume(), " threads; the limit is ", max_threads);
  const std::uint32_t max_shared =
      std::min(kernel.max_dynamic_shared_bytes, limits.max_shared_bytes);
  if (shared_bytes <= max_shared) return {};
  return concat(shared_bytes, " bytes of dynamic shared memory; ", max_shared, " are available");
}

bool types_fit(const KernelParameter& parameter, const Argument& argument) {
  const ValueType *const wanted = parameter.type, *const got = argument.type;
  if (argument.view != nullptr) {
    if (wanted == nullptr) return true;
    // A view without a type is a range of bytes.
    if (got == nullptr) return argument.view->offset() % wanted->alignment == 0;
    return *got == *wanted;
  }
  if (wanted == nullptr || got == nullptr) return argument.size == parameter.size;
  if (*got == *wanted) return true;
  return argument.slot == nullptr && convert(*got, argument.value, *wanted, nullptr);
}

void store_converted(const KernelParameter& parameter, const Argument& argument, std::byte* to) {
  if (argument.type == nullptr || parameter.type == nullptr || *argument.type == *parameter.type) {
    std::memcpy(to, argument.value, argument.size);
  } else {
    static_cast<void>(convert(*argument.type, argument.value, *parameter.type, to));
  }
}

ArgumentFault argument_fault(const KernelCore& kernel, std::span<const Argument> arguments) {
  if (arguments.size() != kernel.parameters.size()) {
    return {ErrorCode::ArgumentCount,
            concat("kernel ", kernel.name, " takes ", kernel.parameters.size(),
                   " arguments and got ", arguments.size())};
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ArgumentFault fault = fault_of(kernel.parameters[i], arguments[i]);
    if (fault.text.empty()) continue;
    fault.text = concat("argument ", i, " of kernel ", kernel.name, ": ", fault.text);
    return fault;
  }
  return {ErrorCode::Internal,
          concat("the arguments of kernel ", kernel.name, " were rejected without a cause")};
}

}  // namespace reprise::detail
