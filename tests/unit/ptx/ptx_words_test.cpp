#include "ptx/ptx_words.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace reprise::detail;

TEST_CASE("ptx words: integer literals are hexadecimal, octal, binary or decimal") {
  CHECK(parse_ptx_number("0") == 0);
  CHECK(parse_ptx_number("0U") == 0);
  CHECK(parse_ptx_number("19") == 19);
  CHECK(parse_ptx_number("19U") == 19);
  CHECK(parse_ptx_number("017") == 15);
  CHECK(parse_ptx_number("0017U") == 15);
  CHECK(parse_ptx_number("0x1F") == 31);
  CHECK(parse_ptx_number("0X1fU") == 31);
  CHECK(parse_ptx_number("0b101") == 5);
  CHECK(parse_ptx_number("0B101U") == 5);
  constexpr std::uint64_t kMax = 18'446'744'073'709'551'615u;
  CHECK(parse_ptx_number("18446744073709551615") == kMax);
  CHECK(parse_ptx_number("0xFFFFFFFFFFFFFFFF") == kMax);
  CHECK(parse_ptx_number("01777777777777777777777") == kMax);
}

TEST_CASE("ptx words: what is no integer literal, or has more than 64 bits, is not a number") {
  for (const std::string_view text :
       {"",
        "U",
        "u",
        "5u",
        "5UU",
        "08",
        "019",
        "0x",
        "0xU",
        "0xG",
        "0b",
        "0b2",
        "1A",
        "-1",
        " 1",
        "1 ",
        "1.0",
        "0f3F800000",
        "0d3FF0000000000000",
        "1e5",
        "18446744073709551616",
        "0x10000000000000000",
        "02000000000000000000000",
        "0b10000000000000000000000000000000000000000000000000000000000000000"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ptx_number(text).has_value());
  }
}

TEST_CASE("ptx words: a percent sign starts a name, and digits and dots start none") {
  std::vector<std::string> words;
  for_each_ptx_word("{%r1|%p, a%b}, 7%c, 0f3F800000, %tid.x, $L+4",
                    [&](std::string_view word) { words.emplace_back(word); });
  CHECK(words == std::vector<std::string>{"%r1", "%p", "a", "%b", "%c", "%tid", "$L"});
}
