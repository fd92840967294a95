#include "poisson.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace cg {

std::vector<double> right_side(std::uint32_t size) {
  const double step = 1.0 / (size + 1);
  const auto hill = [](double x, double y, double at_x, double at_y) {
    return std::exp(-((x - at_x) * (x - at_x) + (y - at_y) * (y - at_y)) / 0.005);
  };
  std::vector<double> b;
  b.reserve(std::size_t{size} * size);
  for (std::uint32_t row = 1; row <= size; ++row) {
    for (std::uint32_t column = 1; column <= size; ++column) {
      const double x = column * step, y = row * step;
      const double f = std::sin(3 * std::numbers::pi * x) * std::sin(2 * std::numbers::pi * y) +
                       40 * hill(x, y, 0.3, 0.6) - 60 * hill(x, y, 0.7, 0.25);
      b.push_back(f * step * step);
    }
  }
  return b;
}

double relative_residual(std::uint32_t size, const std::vector<double>& x,
                         const std::vector<double>& b) {
  double left = 0, whole = 0;
  for (std::uint32_t row = 0; row < size; ++row) {
    for (std::uint32_t column = 0; column < size; ++column) {
      const std::size_t i = std::size_t{row} * size + column;
      double rest = b[i] - 4 * x[i];
      if (column > 0) rest += x[i - 1];
      if (column + 1 < size) rest += x[i + 1];
      if (row > 0) rest += x[i - size];
      if (row + 1 < size) rest += x[i + size];
      left += rest * rest;
      whole += b[i] * b[i];
    }
  }
  return whole == 0 ? std::sqrt(left) : std::sqrt(left / whole);
}

}  // namespace cg
