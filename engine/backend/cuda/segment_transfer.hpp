// The parameters of the kernels that transfer bytes in segments, one block for each
// kTransferBlockBytes. Included by the kernels too. Threads: values.
#pragma once

namespace reprise::detail {

// Rows of `width` bytes, `height` in a slice.
struct SegmentRows {
  unsigned char* address;
  unsigned long long row, slice;  // bytes from one to the next
};
struct SegmentCopy {
  SegmentRows to, from;
  unsigned width, height, depth, block_bytes;
};
struct SegmentFill {
  SegmentRows to;
  unsigned width, height, depth, block_bytes;
  unsigned bits, element_bytes;  // element_bytes: 1, 2 or 4
};

}  // namespace reprise::detail
