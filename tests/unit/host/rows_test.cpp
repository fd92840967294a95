// Copies and fills of pitched rows, compared with loops over single bytes.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "backend/host/rows.hpp"

using namespace reprise;
using namespace reprise::detail;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::byte* at(Bytes& bytes, std::size_t offset) {
  return reinterpret_cast<std::byte*>(bytes.data()) + offset;
}

}  // namespace

TEST_CASE("host rows: a 3D copy writes its rows and nothing else") {
  Bytes source(400), destination(400, 255);
  std::iota(source.begin(), source.end(), std::uint8_t{0});
  const Extent extent{5, 3, 2};
  const Pitch from{8, 40}, to{11, 66};
  copy_rows({at(source, 3), from}, {at(destination, 7), to}, extent);
  Bytes expected(400, 255);
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 5; ++x)
        expected[7 + z * 66 + y * 11 + x] = source[3 + z * 40 + y * 8 + x];
    }
  }
  CHECK(destination == expected);
}

TEST_CASE("host rows: a dense copy is one block") {
  Bytes source(64), destination(64);
  std::iota(source.begin(), source.end(), std::uint8_t{1});
  copy_rows({at(source, 0), {8, 32}}, {at(destination, 0), {8, 32}}, {8, 4, 2});
  CHECK(destination == source);
}

TEST_CASE("host rows: fills of each element size, dense and pitched, at any address") {
  for (const std::uint32_t element : {1u, 2u, 4u}) {
    for (const std::uint64_t row : {20u, 148u, 160u}) {
      CAPTURE(element);
      CAPTURE(row);
      const Extent extent{148, 3, 1};
      const Pitch pitch{row < 148 ? 148 : row, 3 * (row < 148 ? 148 : row)};
      Bytes memory(600, 99), expected(600, 99);
      fill_rows({at(memory, 1), pitch}, extent, 0x04030201, element);
      for (std::size_t y = 0; y < 3; ++y) {
        for (std::size_t x = 0; x < 148; ++x)
          expected[1 + y * pitch.row + x] = static_cast<std::uint8_t>(x % element + 1);
      }
      CHECK(memory == expected);
    }
  }
}
