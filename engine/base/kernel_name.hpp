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
// namespaces, parameter lists and what all kernels of a library or compiler share ("add_gelu_0" for
// "triton_poi_fused_add_gelu_0"), and shortens to 60 characters; a number at the end stays.
[[nodiscard]] std::string short_kernel_name(std::string_view name);

// "AllReduce" for "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)": the operation of a kernel of
// NCCL, demangled or not; empty for other kernels.
[[nodiscard]] std::string_view nccl_operation(std::string_view name);

}  // namespace reprise::detail
