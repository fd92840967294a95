// Runs a program on a device beside its Model and compares all memory. Threads: one at a time.
#pragma once

#include <optional>
#include <string>

#include "programs/program.hpp"
#include "programs/recorder.hpp"

namespace reprise::test::programs {

// The first difference, or the error of a call that a valid program does not provoke.
struct Failure {
  std::string text;
};

[[nodiscard]] std::optional<Failure> run(const Device& device, const Kernels& kernels,
                                         const Program& program);

}  // namespace reprise::test::programs
