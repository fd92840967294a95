// The parameters of the kernels that transfer bytes in segments, by one block. Included by the
// kernels too. Threads: values.
#pragma once

namespace reprise::detail {

// Rows of `width` bytes, `height` in a slice.
struct SegmentRows {
  unsigned char* address;
  unsigned long long row, slice;  // bytes from one to the next
};
struct SegmentCopy {
  SegmentRows to, from;
  unsigned width, height, depth;
};
struct SegmentFill {
  SegmentRows to;
  unsigned width, height, depth;
  unsigned bits, element_bytes;  // element_bytes: 1, 2 or 4
};

}  // namespace reprise::detail
