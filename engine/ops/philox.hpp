// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011), for kernels and for plain C++. Threads: pure
// functions.
#pragma once

#ifdef __CUDACC__
#define REPRISE_OPS_FUNCTION __host__ __device__ inline
#else
#define REPRISE_OPS_FUNCTION inline
#endif

namespace reprise_ops {

struct PhiloxWords {
  unsigned w[4];
};

REPRISE_OPS_FUNCTION PhiloxWords philox(PhiloxWords counter, unsigned key0, unsigned key1) {
  PhiloxWords c = counter;
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.w[0];
    const unsigned long long b = 0xCD9E8D57ull * c.w[2];
    c = {{static_cast<unsigned>(b >> 32) ^ c.w[1] ^ key0, static_cast<unsigned>(b),
          static_cast<unsigned>(a >> 32) ^ c.w[3] ^ key1, static_cast<unsigned>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// The words of the stream's values 4 * block to 4 * block + 3.
REPRISE_OPS_FUNCTION PhiloxWords philox_block(unsigned long long seed,
                                              unsigned long long subsequence,
                                              unsigned long long block) {
  const PhiloxWords counter = {{static_cast<unsigned>(block), static_cast<unsigned>(block >> 32),
                                static_cast<unsigned>(subsequence),
                                static_cast<unsigned>(subsequence >> 32)}};
  return philox(counter, static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
}

}  // namespace reprise_ops
