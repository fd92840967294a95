// Names of kernels as people read them. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// "void scale<float>(float*, float)" of "_Z5scaleIfEvPT_f". What is no C++ name stays.
[[nodiscard]] std::string demangled(std::string_view name);

// "scale<float>" of "_Z5scaleIfEvPT_f": the name as it is written, without what it returns and
// takes. What is no C++ name stays.
[[nodiscard]] std::string readable_kernel_name(std::string_view name);

// "vectorized_elementwise_kernel<4, GeluFunctor<float>>" of one in namespaces: for a box of a
// drawing. Without namespaces and lists of parameters, and cut where it would be longer than a
// line.
[[nodiscard]] std::string short_kernel_name(std::string_view name);

}  // namespace reprise::detail
