// Types that the kernels and the tests share.
#pragma once

namespace reprise_test {

inline constexpr unsigned kBigCount = 1500;  // 6,000 bytes
struct BigParameter {
  unsigned at[kBigCount];
};

}  // namespace reprise_test
