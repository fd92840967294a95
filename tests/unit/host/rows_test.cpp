// Copies and fills of pitched rows, compared with loops over single bytes.
#include <doctest/doctest.h>

#include <cstdint>
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
