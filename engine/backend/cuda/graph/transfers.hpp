// The parameters of the kernels that copy and fill bytes in the place of memcpy and memset nodes.
// Included by the kernels too. Threads: values.
#pragma once

namespace reprise::detail {

// Rows of `width` bytes, `height` in a slice.
struct TransferRows {
  unsigned char* address;
  unsigned long long row, slice;  // bytes from one to the next
};
struct CopyRows {
  TransferRows to, from;
  unsigned long long width;
  unsigned height, depth;
};
struct FillRows {
  TransferRows to;
  unsigned long long width;
  unsigned height, depth;
  unsigned bits, element_bytes;  // element_bytes: 1, 2 or 4
};

}  // namespace reprise::detail
