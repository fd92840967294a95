// Finds the statements of a kernel that threads of one block can disagree on: whether, or how
// often, they execute them. Errs only to the safe side. Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "ptx/ptx_module.hpp"

namespace reprise::detail {

struct DivergenceAnalysis {
  std::vector<bool> is_divergent;  // by statement
  std::string problem;             // why the analysis failed; empty: it did not
};

// A branch is divergent if its condition depends on the thread or on memory; so is everything up to
// the point where its paths join. Cost: each divergent branch visits the blocks between the two;
// the analysis fails after 67 million visits.
[[nodiscard]] DivergenceAnalysis analyse_divergence(const PtxFunction& entry);

}  // namespace reprise::detail
