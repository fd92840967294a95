// Statistics of the values of a range in parts: block b computes those of the b-th part. Parts are
// contiguous and, except the last ones, of equal length, so results depend on the grid alone.
#include "base/content_values.hpp"  // first: its standard headers use names of CUDA's macros

#include <reprise_kernel.hpp>

using reprise::ContentType;
using reprise::detail::PartialStatistics;
using reprise::detail::ValueSums;
using Word = unsigned long long;

namespace {

// The address of the values first, first + stride, first + 2 stride, ... It divides only once.
class Cursor {
 public:
  __device__ Cursor(const unsigned char* data, Word per_row, Word height, Word row_pitch,
                    Word slice_pitch, unsigned bytes, Word first, unsigned stride)
      : per_row_(per_row),
        height_(height),
        column_(first % per_row),
        row_(first / per_row % height),
        column_step_(stride % per_row),
        row_step_(stride / per_row % height),
        row_carry_(row_pitch - per_row * bytes),
        slice_carry_(slice_pitch - height * row_pitch) {
    at_ = data + first / per_row / height * slice_pitch + row_ * row_pitch + column_ * bytes;
    step_ = stride / per_row / height * slice_pitch + row_step_ * row_pitch + column_step_ * bytes;
  }

  [[nodiscard]] __device__ const unsigned char* at() const { return at_; }
  __device__ void advance() {
    at_ += step_;
    column_ += column_step_;
    row_ += row_step_;
    if (column_ >= per_row_) {
      column_ -= per_row_;
      ++row_;
      at_ += row_carry_;
    }
    if (row_ >= height_) {
      row_ -= height_;
      at_ += slice_carry_;
    }
  }

 private:
  const unsigned char* at_;
  Word per_row_, height_;
  Word column_, row_;  // of the value; of its slice
  Word step_, column_step_, row_step_;
  Word row_carry_, slice_carry_;  // added to the address at the end of a row or slice
};

}  // namespace

// Adds every blockDim.x-th value from `first` on. Loads of a batch are in flight at once; its
// values move to the first element, since code for each element would be four times as long.
template <class Format>
static __device__ void add_values(Cursor cursor, Word first, Word end, ValueSums& sums,
                                  unsigned* histogram) {
  using Bits = typename Format::Bits;
  constexpr unsigned kBatch = 4;
  for (Word i = first; i < end;) {
    Bits bits[kBatch] = {};
    for (unsigned j = 0; j < kBatch; ++j, cursor.advance())
      if (i + j * blockDim.x < end) bits[j] = *reinterpret_cast<const Bits*>(cursor.at());
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (unsigned j = 0; j < kBatch && i < end; ++j, i += blockDim.x) {
      reprise::detail::add_value<Format>(
          sums, i, bits[0], [histogram](unsigned bin) { atomicAdd(&histogram[bin], 1u); });
      for (unsigned k = 1; k < kBatch; ++k) bits[k - 1] = bits[k];
    }
  }
}

// The number of threads is a power of two from 64 on; each has a ValueSums of dynamic shared
// memory. `data` and the pitches are multiples of the values' size. `type`: a ContentType.
REPRISE_KERNEL(reprise_content_statistics,
               (const unsigned char* data, PartialStatistics* partials, unsigned long long width,
                unsigned long long height, unsigned long long depth, unsigned long long row_pitch,
                unsigned long long slice_pitch, unsigned type)) {
  constexpr unsigned kBins = reprise::ContentStatistics::kBins;
  REPRISE_DYNAMIC_SHARED(ValueSums, sums);
  __shared__ unsigned histogram[kBins];
  if (threadIdx.x < kBins) histogram[threadIdx.x] = 0;
  __syncthreads();

  ValueSums own = reprise::detail::no_values();
  const auto content = static_cast<ContentType>(type);
  const auto bytes = reprise::detail::with_format(content, [](auto format) {
    return static_cast<unsigned>(sizeof(typename decltype(format)::Bits));
  });
  const Word per_row = width / bytes, count = per_row * height * depth,
             unit = Word{blockDim.x} * gridDim.x, part = (count + unit - 1) / unit * blockDim.x,
             begin = part * blockIdx.x, end = begin + part < count ? begin + part : count,
             first = begin + threadIdx.x;
  if (first < end) {
    const Cursor cursor(data, per_row, height, row_pitch, slice_pitch, bytes, first, blockDim.x);
    reprise::detail::with_format(content, [&](auto format) {
      add_values<decltype(format)>(cursor, first, end, own, histogram);
    });
  }

  sums[threadIdx.x] = own;
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) reprise::detail::add(sums[threadIdx.x], sums[threadIdx.x + half]);
  }
  PartialStatistics& result = partials[blockIdx.x];
  if (threadIdx.x < kBins) result.histogram[threadIdx.x] = histogram[threadIdx.x];
  if (threadIdx.x == 0) static_cast<ValueSums&>(result) = sums[0];
}
