// The problem: -laplace(u) = f on the unit square, u = 0 around it, on a grid of size x size points
// inside; in plain C++. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

namespace cg {

// f at the grid's points, times the square of their distance: a wave, a hill and a hole.
[[nodiscard]] std::vector<double> right_side(std::uint32_t size);
// The norm of b - A x over that of b; A is 4 on the diagonal and -1 for each neighbour.
[[nodiscard]] double relative_residual(std::uint32_t size, const std::vector<double>& x,
                                       const std::vector<double>& b);

}  // namespace cg
