// The modules of application.cu, which an application would load from files.
#pragma once

#include <cstddef>
#include <span>

namespace reprise::test {

[[nodiscard]] std::span<const std::byte> application_ptx();
// `capability`: 90 for compute capability 9.0. Empty if the build has no module for it.
[[nodiscard]] std::span<const std::byte> application_cubin(unsigned capability);

}  // namespace reprise::test
