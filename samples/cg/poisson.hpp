// The problem, in plain C++: -laplace(u) = f on the unit square with u = 0 on the boundary, on a
// grid of size x size interior points. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

namespace cg {

// f at the grid points times the squared grid spacing: a wave, a hill and a hole.
[[nodiscard]] std::vector<double> right_side(std::uint32_t size);
// The norm of b - A x over that of b; A is 4 on the diagonal and -1 for each neighbour.
[[nodiscard]] double relative_residual(std::uint32_t size, const std::vector<double>& x,
                                       const std::vector<double>& b);

}  // namespace cg
