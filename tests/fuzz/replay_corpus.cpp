// Runs a fuzzer's entry on files and on variations of them, for compilers without libFuzzer:
// replay_corpus FOLDER [SEED]. The variations depend only on the seed, which is printed. They are
// those of the fuzzer's own mutator if it has one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                             std::size_t max_size,
                                                             unsigned int seed);

namespace {

constexpr int kVariations = 300;
constexpr std::size_t kMaxBytes = 65'536;

std::vector<std::uint8_t> vary(std::vector<std::uint8_t> bytes, std::mt19937_64& random) {
  for (std::uint64_t changes = 1 + random() % 4; changes != 0 && bytes.size() > 1; --changes) {
    // Keeps the first byte, which selects the layer.
    const std::size_t at = 1 + random() % (bytes.size() - 1);
    switch (random() % 4) {
      case 0: bytes[at] = static_cast<std::uint8_t>(random()); break;
      case 1: bytes[at] ^= static_cast<std::uint8_t>(1u << random() % 8); break;
      case 2: bytes.resize(at); break;
      default: bytes[at] = random() % 2 == 0 ? 0x00 : 0xff; break;
    }
  }
  return bytes;
}

std::vector<std::uint8_t> mutate(std::vector<std::uint8_t> bytes, std::mt19937_64& random) {
  if (LLVMFuzzerCustomMutator == nullptr) return vary(std::move(bytes), random);
  const std::size_t size = bytes.size();
  bytes.resize(std::max(size, kMaxBytes));
  bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(),
                                       static_cast<unsigned int>(random())));
  return bytes;
}

}  // namespace

// As libFuzzer defines it, for mutators that leave some changes to it.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t) {
  static std::mt19937_64 random(1);
  const std::vector<std::uint8_t> bytes = vary({data, data + size}, random);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FOLDER [SEED]\n", argv[0]), 2;
  const std::uint64_t seed =
      argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++runs;
    for (int i = 0; i < kVariations; ++i, ++runs) {
      const std::vector<std::uint8_t> other = mutate(bytes, random);
      LLVMFuzzerTestOneInput(other.data(), other.size());
    }
  }
  std::printf("%zu inputs\n", runs);
  return runs == 0 ? 1 : 0;
}
