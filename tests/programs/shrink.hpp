// Removes what a failure does not need from a program. Threads: one at a time.
#pragma once

#include <functional>

#include "programs/program.hpp"

namespace reprise::test::programs {

// A part of `program` for which `fails` returns true, and of which no step, command or option can
// be removed so that it still does. fails(program) is true.
[[nodiscard]] Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace reprise::test::programs
