// The matrices of the sample, in plain C++. Lower triangles in row-major order; the rest is unused.
// Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

namespace cholesky {

// A symmetric positive definite matrix, n x n: random values between 0 and 1, and n more on the
// diagonal. The same seed gives the same matrix.
[[nodiscard]] std::vector<double> random_matrix(std::uint32_t n, std::uint32_t seed);
// The largest norm of (A - L L^T) x over n times those of A and x, for some random vectors x. For a
// correct factor it is below the machine epsilon of the type that L was computed with.
[[nodiscard]] double residual(std::uint32_t n, const std::vector<double>& a,
                              const std::vector<double>& l);

}  // namespace cholesky
