// Factorization: A = L L^T on a device, in tiles. The graph has one dispatch of one block for each
// tile and step. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

namespace cholesky {

struct FactorizationDesc {
  std::uint32_t size = 0;  // rows of the matrix; a multiple of `tile`
  std::uint32_t tile = 0;  // rows of a tile: 32 or 64; 0: what is fast on a GPU
  reprise::Lowering lowering = reprise::Lowering::Auto;
};

// T: float or double.
template <class T>
class Factorization {
 public:
  // Throws std::invalid_argument for another tile, or one that does not divide the size.
  Factorization(const reprise::Device& device, const FactorizationDesc& desc);
  [[nodiscard]] std::uint32_t tile() const { return desc_.tile; }
  // Factors the matrix in place.
  [[nodiscard]] reprise::CapturedGraph& graph() { return graph_; }
  // Copies the last matrix of factor() to where graph() factors it.
  [[nodiscard]] reprise::CapturedGraph& restore() { return restore_; }

  // The factor of a matrix; see matrix.hpp. Throws std::runtime_error, which names the row, if the
  // matrix is not positive definite.
  [[nodiscard]] std::vector<double> factor(const std::vector<double>& a);
  // Factors the last matrix again and again. The median time from the launch to its fence, ms.
  [[nodiscard]] double milliseconds(std::uint32_t replays);

 private:
  [[nodiscard]] reprise::CapturedGraph compile(reprise::CommandBuffer& commands,
                                               reprise::Lowering lowering) const;
  [[nodiscard]] reprise::CapturedGraph compile_steps() const;
  // Where a value is in memory: tile by tile, and column by column in a tile.
  [[nodiscard]] std::size_t place_of(std::size_t row, std::size_t column) const;

  const reprise::Device device_;
  const FactorizationDesc desc_;
  const std::uint32_t tiles_;  // in a row
  const reprise::Queue queue_;
  const std::shared_ptr<reprise::CapturePool> pool_;
  const reprise::GpuRef<T> original_, matrix_, inverses_;  // inverses_: of the diagonal tiles of L
  const reprise::GpuRef<unsigned> status_;
  const reprise::HostRef<T> host_;
  const reprise::HostRef<unsigned> host_status_;
  reprise::CapturedGraph load_, restore_, graph_, store_;
};

extern template class Factorization<float>;
extern template class Factorization<double>;

}  // namespace cholesky
