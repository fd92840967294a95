#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace cholesky {

namespace {

using Vector = std::vector<double>;

constexpr int kVectors = 3;

double norm(const Vector& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

Vector random_matrix(std::uint32_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  Vector a(std::size_t{n} * n, 0);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column <= row; ++column)
      a[row * n + column] = static_cast<double>(random()) / 4294967296.0;
    a[row * n + row] += n;
  }
  return a;
}

double residual(std::uint32_t n, const Vector& a, const Vector& l) {
  double of_a = 0;  // the Frobenius norm
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      const double value = a[row * n + column];
      of_a += (column == row ? 1 : 2) * value * value;
    }
  }
  std::mt19937 random(1);
  double worst = 0;
  for (int i = 0; i < kVectors; ++i) {
    Vector x(n), rest(n, 0), transposed(n, 0);  // A x - L (L^T x); L^T x
    for (double& value : x) value = static_cast<double>(random()) / 2147483648.0 - 1;
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column <= row; ++column) {
        const double value = a[row * n + column];
        rest[row] += value * x[column];
        if (column != row) rest[column] += value * x[row];
        transposed[column] += l[row * n + column] * x[row];
      }
    }
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column <= row; ++column)
        rest[row] -= l[row * n + column] * transposed[column];
    }
    worst = std::max(worst, norm(rest) / (n * std::sqrt(of_a) * norm(x)));
  }
  return worst;
}

}  // namespace cholesky
