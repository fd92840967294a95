#include <doctest/doctest.h>

#include "cli/text.hpp"

using namespace reprise::cli;

TEST_CASE("text: numbers have separators and fitting units") {
  CHECK(with_separators(0) == "0");
  CHECK(with_separators(999) == "999");
  CHECK(with_separators(1'000) == "1,000");
  CHECK(with_separators(18'446'744'073'709'551'615u) == "18,446,744,073,709,551,615");
  CHECK(microseconds(0) == "0.000");
  CHECK(microseconds(1'234'567'891) == "1,234,567.891");
  CHECK(microseconds(-1'234'567) == "-1,234.567");
  CHECK(microseconds(-234'567) == "-234.567");
  CHECK(duration(999) == "999 ns");
  CHECK(duration(1'500) == "1.500 us");
  CHECK(duration(2'500'000) == "2.500 ms");
  CHECK(duration(4'321e9) == "4,321.000 s");
  CHECK(bytes(1'023) == "1023 B");
  CHECK(bytes(1'536) == "1.5 KiB");
  CHECK(bytes(std::uint64_t{5} << 40) == "5.0 TiB");
  CHECK(percent(0.1234) == "12.3 %");
  CHECK(signed_percent(0.05) == "+5.0 %");
  CHECK(signed_percent(-0.05) == "-5.0 %");
  CHECK(counted(1, "node") == "1 node");
  CHECK(counted(2'000, "node") == "2,000 nodes");
  CHECK(hex(0xfeed) == "000000000000feed");
}

TEST_CASE("text: control characters in names from a trace are replaced") {
  CHECK(printable("a\x1b[31mb\nc\x7f") == "a?[31mb?c?");
  CHECK(printable("a\xc2\x9b"
                  "31m") == "a?31m");  // the one-byte CSI, as UTF-8
  CHECK(printable("a\x9b"
                  "31m") == "a?31m");
  CHECK(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82") ==
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
  CHECK(printable("\xe2\x82") == "??");
}

TEST_CASE(
    "text: text columns are left-aligned, numbers right-aligned, and width counts UTF-8 "
    "characters") {
  Table table(1, {"name", "us"});
  CHECK(table.empty());
  table.add({"sch\xc3\xb6n", "1.000"});
  table.add({"a", "1,234.000"});
  CHECK_FALSE(table.empty());
  CHECK(table.text() == "  name          us\n  sch\xc3\xb6n      1.000\n  a      1,234.000\n");
}

TEST_CASE("text: columns without a value can be removed, but not those of names") {
  Table table(1, {"name", "us", "bytes", "count"});
  table.add({"-", "1", "-", "-"});
  table.add({"-", "-", "-", "-"});
  table.remove_columns("-");
  CHECK(table.text() == "  name  us\n  -      1\n  -      -\n");
}
