// Copies and fills in segments, where a kernel takes the place of a memcpy or memset node. Units
// are as large as addresses, widths and pitches allow.
#include <reprise_kernel.hpp>

#ifdef __CUDACC__  // the host device transfers without kernels

#include "backend/cuda/segments/segment_transfer.hpp"

using namespace reprise::detail;

static __device__ __forceinline__ unsigned long long alignment_bits(const SegmentRows& rows) {
  return reinterpret_cast<unsigned long long>(rows.address) | rows.row | rows.slice;
}

// Calls visit(row, slice, byte in the row) for units of the transfer.
template <class Unit, class Visit>
static __device__ __forceinline__ void for_units(unsigned width, unsigned height, unsigned depth,
                                                 const Visit& visit) {
  const unsigned in_row = width / sizeof(Unit), all = in_row * height * depth;
  const bool is_one_row = in_row == all;
  for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
    const unsigned row = is_one_row ? 0 : i / in_row;
    visit(row % height, row / height, (i - row * in_row) * sizeof(Unit));
  }
}

template <class Unit>
static __device__ __forceinline__ Unit* at(const SegmentRows& rows, unsigned row, unsigned slice,
                                           unsigned long long offset) {
  return reinterpret_cast<Unit*>(rows.address + slice * rows.slice + row * rows.row + offset);
}

template <class Unit>
static __device__ __forceinline__ void copy(const SegmentCopy& copy) {
  for_units<Unit>(copy.width, copy.height, copy.depth,
                  [&](unsigned row, unsigned slice, unsigned long long offset) {
                    *at<Unit>(copy.to, row, slice, offset) =
                        *at<Unit>(copy.from, row, slice, offset);
                  });
}

template <class Unit>
static __device__ __forceinline__ void fill(const SegmentFill& fill, Unit value) {
  for_units<Unit>(fill.width, fill.height, fill.depth,
                  [&](unsigned row, unsigned slice, unsigned long long offset) {
                    *at<Unit>(fill.to, row, slice, offset) = value;
                  });
}

REPRISE_KERNEL(reprise_segment_copy, (SegmentCopy rows)) {
  const unsigned long long bits = alignment_bits(rows.to) | alignment_bits(rows.from) | rows.width;
  if (bits % 16 == 0) return copy<uint4>(rows);
  if (bits % 4 == 0) return copy<unsigned>(rows);
  copy<unsigned char>(rows);
}

REPRISE_KERNEL(reprise_segment_fill, (SegmentFill rows)) {
  const unsigned long long bits = alignment_bits(rows.to) | rows.width;
  const unsigned pair = rows.element_bytes == 1 ? rows.bits % 256 * 0x101u : rows.bits % 65536;
  const unsigned word = rows.element_bytes == 4 ? rows.bits : pair * 0x10001u;
  if (bits % 16 == 0) return fill<uint4>(rows, make_uint4(word, word, word, word));
  if (bits % 4 == 0) return fill<unsigned>(rows, word);
  if (bits % 2 == 0) return fill<unsigned short>(rows, static_cast<unsigned short>(word));
  fill<unsigned char>(rows, static_cast<unsigned char>(word));
}

#endif  // __CUDACC__
