// The modules of application.cu, as an application would have them in files.
#pragma once

#include <cstddef>
#include <span>

namespace reprise::test {

[[nodiscard]] std::span<const std::byte> application_ptx();
// For compute capability 9.0: 90. Empty where the build made none for it.
[[nodiscard]] std::span<const std::byte> application_cubin(unsigned capability);

}  // namespace reprise::test
