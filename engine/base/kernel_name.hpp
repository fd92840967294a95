// Readable kernel names. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// "void scale<float>(float*, float)" for "_Z5scaleIfEvPT_f". Returns any other text unchanged.
[[nodiscard]] std::string demangled(std::string_view name);

// "scale<float>" for "_Z5scaleIfEvPT_f": the name without return type and parameters. Returns any
// text that is not a mangled C++ name unchanged.
[[nodiscard]] std::string readable_kernel_name(std::string_view name);

// "vectorized_elementwise_kernel<4, GeluFunctor<float>>": a label for a node of a drawing. Drops
// namespaces and parameter lists and truncates to 60 characters.
[[nodiscard]] std::string short_kernel_name(std::string_view name);

// "AllReduce" for "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)": the operation of a kernel of
// NCCL, demangled or not; empty for other kernels.
[[nodiscard]] std::string_view nccl_operation(std::string_view name);

}  // namespace reprise::detail
