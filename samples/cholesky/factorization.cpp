#include "factorization.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <cholesky.shaders.hpp>

namespace cholesky {

using namespace reprise;

namespace {

constexpr unsigned kNoRow = ~0u;  // the pivots of all rows are positive

struct Kernels {
  const KernelDesc &factor, &solve, &update;
};

template <class T>
Kernels kernels_for(std::uint32_t tile) {
  using namespace shaders;
  if constexpr (std::is_same_v<T, float>) {
    if (tile == 32)
      return {cholesky_factor_float_32, cholesky_solve_float_32, cholesky_update_float_32};
    return {cholesky_factor_float_64, cholesky_solve_float_64, cholesky_update_float_64};
  } else {
    if (tile == 32)
      return {cholesky_factor_double_32, cholesky_solve_double_32, cholesky_update_double_32};
    return {cholesky_factor_double_64, cholesky_solve_double_64, cholesky_update_double_64};
  }
}

// The tile with which an H100 is fastest; with larger matrices, smaller tiles are too many.
template <class T>
std::uint32_t default_tile(std::uint32_t size) {
  const std::uint32_t first_large = std::is_same_v<T, float> ? 512 : 2048;
  return size < first_large || size % 64 != 0 ? 32 : 64;
}

template <class T>
FactorizationDesc checked(FactorizationDesc desc) {
  if (desc.tile == 0) desc.tile = default_tile<T>(desc.size);
  const std::string tile = std::to_string(desc.tile);
  if (desc.tile != 32 && desc.tile != 64)
    throw std::invalid_argument("tiles have 32 or 64 rows, and not " + tile);
  if (desc.size == 0 || desc.size % desc.tile != 0) {
    throw std::invalid_argument("a matrix of " + std::to_string(desc.size) +
                                " rows cannot be divided into tiles of " + tile);
  }
  return desc;
}

}  // namespace

template <class T>
Factorization<T>::Factorization(const Device& device, const FactorizationDesc& desc)
    : device_(device),
      desc_(checked<T>(desc)),
      tiles_(desc_.size / desc_.tile),
      queue_(device.create_queue({.label = "cholesky"})),
      pool_(device.create_pool({.label = "cholesky"})),
      original_(pool_->template allocate<T>(std::size_t{desc.size} * desc.size, "original")),
      matrix_(pool_->template allocate<T>(std::size_t{desc.size} * desc.size, "matrix")),
      inverses_(pool_->template allocate<T>(std::size_t{desc.size} * desc_.tile, "inverses")),
      status_(pool_->template allocate<unsigned>(1, "status")),
      host_(pool_->template host<T>(std::size_t{desc.size} * desc.size, "matrix on the host")),
      host_status_(pool_->template host<unsigned>(1, "status on the host")) {
  const auto make = [&](const char* label, auto&& verbs) {
    CommandBuffer commands = device_.create_command_buffer({.label = label});
    commands.begin();
    verbs(commands);
    return compile(commands, Lowering::Auto);
  };
  load_ = make("load", [&](CommandBuffer& cmd) {
    cmd.copy(host_, original_);
    cmd.fill(inverses_.template as<unsigned>(), 0u);  // stays above the diagonals
  });
  restore_ = make("restore", [&](CommandBuffer& cmd) {
    cmd.copy(original_, matrix_);
    cmd.fill(status_, kNoRow);
  });
  graph_ = compile_steps();
  store_ = make("store", [&](CommandBuffer& cmd) {
    cmd.copy(matrix_, host_);
    cmd.copy(status_, host_status_);
  });
}

template <class T>
CapturedGraph Factorization<T>::compile(CommandBuffer& commands, Lowering lowering) const {
  commands.end();
  CapturedGraph graph = device_.compile(commands, {.pool = pool_, .lowering = lowering});
  graph.upload(queue_);
  return graph;
}

// Column by column: factors the diagonal tile, solves those below, and updates those to the right.
// The order of the dispatches follows from the tiles that they read and write.
template <class T>
CapturedGraph Factorization<T>::compile_steps() const {
  const Kernels kernels = kernels_for<T>(desc_.tile);
  const Kernel factor = device_.load_kernel(kernels.factor),
               solve = device_.load_kernel(kernels.solve),
               update = device_.load_kernel(kernels.update);
  const DispatchDesc one_block{.grid = 1, .block = 4 * desc_.tile};
  const std::size_t values = std::size_t{desc_.tile} * desc_.tile;
  const auto tile = [&](std::uint32_t row, std::uint32_t column) {
    return matrix_.slice(place_of(std::size_t{row} * desc_.tile, std::size_t{column} * desc_.tile),
                         values);
  };
  CommandBuffer cmd = device_.create_command_buffer({.label = "cholesky"});
  cmd.begin();
  for (std::uint32_t k = 0; k < tiles_; ++k) {
    const GpuRef<T> inverse = inverses_.slice(k * values, values);
    cmd.dispatch(factor, one_block, read_write(tile(k, k)), read_write(inverse),
                 read_write(status_), k * desc_.tile);
    for (std::uint32_t row = k + 1; row < tiles_; ++row)
      cmd.dispatch(solve, one_block, read(inverse), read_write(tile(row, k)));
    for (std::uint32_t row = k + 1; row < tiles_; ++row) {
      for (std::uint32_t column = k + 1; column <= row; ++column)
        cmd.dispatch(update, one_block, read(tile(row, k)), read(tile(column, k)),
                     read_write(tile(row, column)));
    }
  }
  return compile(cmd, desc_.lowering);
}

template <class T>
std::size_t Factorization<T>::place_of(std::size_t row, std::size_t column) const {
  const std::size_t n = desc_.tile;
  return (row / n * tiles_ + column / n) * n * n + column % n * n + row % n;
}

template <class T>
std::vector<double> Factorization<T>::factor(const std::vector<double>& a) {
  const std::size_t n = desc_.size;
  T* const values = host_.data();
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column)
      values[place_of(row, column)] =
          static_cast<T>(a[std::max(row, column) * n + std::min(row, column)]);
  }
  load_.launch(queue_);
  restore_.launch(queue_);
  graph_.launch(queue_);
  store_.launch(queue_).wait();
  if (const unsigned row = host_status_[0]; row != kNoRow)
    throw std::runtime_error("the matrix is not positive definite: row " + std::to_string(row));
  std::vector<double> l(n * n, 0);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column <= row; ++column)
      l[row * n + column] = static_cast<double>(values[place_of(row, column)]);
  }
  return l;
}

template <class T>
double Factorization<T>::milliseconds(std::uint32_t replays) {
  std::vector<double> times;
  for (std::uint32_t i = 0; i < replays; ++i) {
    restore_.launch(queue_).wait();
    const auto began = std::chrono::steady_clock::now();
    graph_.launch(queue_).wait();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + replays / 2, times.end());
  return times[replays / 2];
}

template class Factorization<float>;
template class Factorization<double>;

}  // namespace cholesky
