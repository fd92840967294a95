// The description of one reduction, scan or sort for both devices. Knows no engine: nvcc reads it
// too. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::ops {

enum class ArrayVerb : std::uint8_t {
  Sum,
  Min,
  Max,
  ExclusiveScan,
  InclusiveScan,
  SortAscending,
  SortDescending,
  SortPairsAscending,
  SortPairsDescending
};
enum class ArrayElement : std::uint8_t { F32, F64, I32, U32 };

struct ArrayWork {
  ArrayVerb verb = ArrayVerb::Sum;
  ArrayElement element = ArrayElement::F32;
  std::uint64_t count = 0;
};

// Up to this many values, one block of this many threads reduces or scans them.
inline constexpr std::uint64_t kSmallArray = 4096;
inline constexpr unsigned kSmallArrayThreads = 256;

struct ArrayAddresses {
  const void* input = nullptr;
  void* output = nullptr;
  std::uint32_t* indices = nullptr;  // for sorts with indices
  void* keys = nullptr;              // for sorts on GPUs: scratch, as large as input
  std::uint32_t* numbers = nullptr;  // for sorts with indices on GPUs: scratch, as large as indices
};

[[nodiscard]] constexpr bool is_sort(ArrayVerb verb) noexcept {
  return verb >= ArrayVerb::SortAscending;
}
[[nodiscard]] constexpr bool has_indices(ArrayVerb verb) noexcept {
  return verb >= ArrayVerb::SortPairsAscending;
}

// CUB's calling convention: a null `temporary` only sets `bytes`. Returns a cudaError_t.
[[nodiscard]] int run_cub(const ArrayWork& work, const ArrayAddresses& at, void* temporary,
                          std::size_t& bytes, void* stream);

}  // namespace reprise::ops
