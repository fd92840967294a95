// Copies and fills by kernels: in segments, by one block, and large copies within the GPU. Units
// are as large as addresses, pitches and, in segments, widths allow.
#include <reprise_kernel.hpp>

#ifdef __CUDACC__  // the host device transfers without kernels

#include "backend/cuda/graph/transfers.hpp"

using namespace reprise::detail;

static __device__ __forceinline__ unsigned long long alignment_bits(const TransferRows& rows) {
  return reinterpret_cast<unsigned long long>(rows.address) | rows.row | rows.slice;
}

// Calls visit(row, slice, byte in the row) for units of the transfer.
template <class Unit, class Rows, class Visit>
static __device__ __forceinline__ void for_units(const Rows& rows, const Visit& visit) {
  const unsigned in_row = rows.width / sizeof(Unit), all = in_row * rows.height * rows.depth;
  const bool is_one_row = in_row == all;
  for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
    const unsigned row = is_one_row ? 0 : i / in_row;
    visit(row % rows.height, row / rows.height, (i - row * in_row) * sizeof(Unit));
  }
}

template <class Unit>
static __device__ __forceinline__ Unit* at(const TransferRows& rows, unsigned row, unsigned slice,
                                           unsigned long long offset) {
  return reinterpret_cast<Unit*>(rows.address + slice * rows.slice + row * rows.row + offset);
}

template <class Unit>
static __device__ __forceinline__ void copy(const CopyRows& rows) {
  for_units<Unit>(rows, [&](unsigned row, unsigned slice, unsigned long long offset) {
    *at<Unit>(rows.to, row, slice, offset) = *at<Unit>(rows.from, row, slice, offset);
  });
}

template <class Unit>
static __device__ __forceinline__ void fill(const FillRows& rows, Unit value) {
  for_units<Unit>(rows, [&](unsigned row, unsigned slice, unsigned long long offset) {
    *at<Unit>(rows.to, row, slice, offset) = value;
  });
}

REPRISE_KERNEL(reprise_segment_copy, (CopyRows rows)) {
  const unsigned long long bits = alignment_bits(rows.to) | alignment_bits(rows.from) | rows.width;
  if (bits % 16 == 0) return copy<uint4>(rows);
  if (bits % 4 == 0) return copy<unsigned>(rows);
  copy<unsigned char>(rows);
}

REPRISE_KERNEL(reprise_segment_fill, (FillRows rows)) {
  const unsigned long long bits = alignment_bits(rows.to) | rows.width;
  const unsigned pair = rows.element_bytes == 1 ? rows.bits % 256 * 0x101u : rows.bits % 65536;
  const unsigned word = rows.element_bytes == 4 ? rows.bits : pair * 0x10001u;
  if (bits % 16 == 0) return fill<uint4>(rows, make_uint4(word, word, word, word));
  if (bits % 4 == 0) return fill<unsigned>(rows, word);
  if (bits % 2 == 0) return fill<unsigned short>(rows, static_cast<unsigned short>(word));
  fill<unsigned char>(rows, static_cast<unsigned char>(word));
}

// A thread's share of a chunk of a row: 16 bytes in units that are blockDim.x apart. Chunk 0 also
// has the bytes behind the last unit.
template <class Unit>
static __device__ __forceinline__ void copy_share(const CopyRows& rows, unsigned row,
                                                  unsigned chunk) {
  constexpr unsigned kUnits = 16 / sizeof(Unit);
  const unsigned in_row = rows.width / sizeof(Unit),
                 first = chunk * kUnits * blockDim.x + threadIdx.x;
  const unsigned slice = rows.depth == 1 ? 0 : row / rows.height;
  row -= slice * rows.height;
  const Unit* const from = at<Unit>(rows.from, row, slice, 0);
  Unit* const to = at<Unit>(rows.to, row, slice, 0);
  Unit units[kUnits];
  for (unsigned i = 0; i < kUnits; ++i)
    if (first + i * blockDim.x < in_row) units[i] = from[first + i * blockDim.x];
  for (unsigned i = 0; i < kUnits; ++i)
    if (first + i * blockDim.x < in_row) to[first + i * blockDim.x] = units[i];
  if (chunk != 0 || threadIdx.x >= rows.width % sizeof(Unit)) return;
  const unsigned long long byte = in_row * sizeof(Unit) + threadIdx.x;
  *at<unsigned char>(rows.to, row, slice, byte) = *at<unsigned char>(rows.from, row, slice, byte);
}

// The only row, in units of 16 bytes. Copies of gigabytes need this shorter way.
static __device__ __forceinline__ void copy_row(const CopyRows& rows) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, rest = rows.width % 16;
  if (i < rows.width / 16)
    reinterpret_cast<uint4*>(rows.to.address)[i] =
        reinterpret_cast<const uint4*>(rows.from.address)[i];
  if (i < rest) rows.to.address[rows.width - rest + i] = rows.from.address[rows.width - rest + i];
}

// Blocks of blockDim.y rows. `unit` is 16, 8 or 4, and divides addresses and pitches; rows have
// `chunks` of 16 * blockDim.x bytes.
REPRISE_KERNEL(reprise_copy, (CopyRows rows, unsigned unit, unsigned chunks)) {
  if (rows.height * rows.depth == 1 && unit == 16) return copy_row(rows);
  const unsigned group = chunks == gridDim.x ? 0 : blockIdx.x / chunks,
                 chunk = blockIdx.x - group * chunks, row = group * blockDim.y + threadIdx.y;
  if (row >= rows.height * rows.depth) return;
  if (unit == 16) return copy_share<uint4>(rows, row, chunk);
  if (unit == 8) return copy_share<uint2>(rows, row, chunk);
  copy_share<unsigned>(rows, row, chunk);
}

#endif  // __CUDACC__
