#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"

using namespace reprise::viewer;

TEST_CASE("format: a duration has a fitting unit and about four significant digits") {
  CHECK(duration_text(0) == "0 ns");
  CHECK(duration_text(812) == "812 ns");
  CHECK(duration_text(3.5) == "3.5 ns");
  CHECK(duration_text(999.6) == "1.000 us");
  CHECK(duration_text(361'200) == "361.2 us");
  CHECK(duration_text(999'960) == "1.000 ms");
  CHECK(duration_text(12'050'000) == "12.05 ms");
  CHECK(duration_text(3'412'000'000) == "3.412 s");
  CHECK(duration_text(-361'200) == "-361.2 us");
  CHECK(duration_text(12'345'600'000'000) == "12,346 s");
}

TEST_CASE("format: durations of a column use the unit of the largest value") {
  CHECK(duration_text(361'000, 12'050'000) == "0.361 ms");
  CHECK(duration_text(12'050'000, 12'050'000) == "12.050 ms");
  CHECK(duration_text(12, 900) == "12 ns");
  CHECK(duration_text(-500, 2'000) == "-0.500 us");
}

TEST_CASE("format: byte counts use binary units") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(4096) == "4 KiB");
  CHECK(bytes_text(3277) == "3.2 KiB");
  CHECK(bytes_text(1'342'177'280) == "1.25 GiB");
  CHECK(bytes_text(1'048'575) == "1 MiB");
  CHECK(bytes_text(~0ull) == "16 EiB");
  CHECK(bytes_change_text(4096) == "4 KiB");
  CHECK(bytes_change_text(-512) == "-512 B");
  CHECK(bytes_change_text(std::numeric_limits<std::int64_t>::min()) == "-8 EiB");
}

TEST_CASE("format: counts and rates have thousands separators") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1'000) == "1,000");
  CHECK(count_text(26'800) == "26,800");
  CHECK(counted_text(1, "edge") == "1 edge");
  CHECK(counted_text(0, "edge") == "0 edges");
  CHECK(counted_text(26'800, "edge") == "26,800 edges");
  CHECK(count_text(12'345'678) == "12,345,678");
  CHECK(rate_text(2731.4) == "2,731");
  CHECK(rate_text(59.82) == "59.8");
  CHECK(rate_text(0.25) == "0.25");
}

TEST_CASE("format: small percentages above zero are distinct from zero") {
  CHECK(percent_text(0.123) == "12.3 %");
  CHECK(percent_text(0) == "0.0 %");
  CHECK(percent_text(0.0001) == "<0.1 %");
  CHECK(percent_text(1) == "100.0 %");
  CHECK(change_text(0.123) == "+12.3 %");
  CHECK(change_text(-0.004) == "-0.4 %");
  CHECK(change_text(0.0001) == "0.0 %");
  CHECK(change_text(9) == "+900.0 %");
  CHECK(change_text(12) == "x 13.0");
  CHECK(change_text(2294.28) == "x 2,295");
}

TEST_CASE("format: shortened() keeps both ends and whole UTF-8 characters") {
  CHECK(shortened("short", 10) == "short");
  CHECK(shortened("gather_rows_of_matrix", 11) == "gath...trix");
  CHECK(shortened("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 8).size() ==
        16);
  CHECK(shortened("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 5) ==
        "\xc3\xa4...\xc3\xa4");
  CHECK(shortened("abcdef", 2) == "ab");
}

TEST_CASE("axis: few values that are far above all others leave the scale") {
  std::vector<std::int64_t> values(100, 1'000);
  CHECK(top_of_scale(values) == 1'000);
  values[7] = 2'500;
  CHECK(top_of_scale(values) == 2'500);
  values[7] = 900'000;
  CHECK(top_of_scale(values) == 1'500);
  for (std::size_t i = 0; i < 10; ++i) values[i] = 900'000;
  CHECK(top_of_scale(values) == 900'000);
  CHECK(top_of_scale({5}) == 5);
  CHECK(top_of_scale({1, 4, 1}) == 4);  // few: all of them
}
