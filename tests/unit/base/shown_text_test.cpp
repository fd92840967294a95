#include "base/shown_text.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

using namespace reprise::detail;

TEST_CASE("shown text: control characters and invalid UTF-8 become question marks") {
  CHECK(printable("plain text, \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "plain text, \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(printable("\x1b]0;pwned\x07") == "?]0;pwned?");
  CHECK(printable("a\nb\tc\r\x7f") == "a?b?c??");
  CHECK(printable("\xc2\x9b"  // CSI of C1
                  "31m") == "?31m");
  CHECK(printable("\xe2\x80\xae rtl \xe2\x81\xa6 \xe2\x80\xa8") == "? rtl ? ?");
  CHECK(printable("\xff\xfe") == "??");
  CHECK(printable("\xc0\x9b") == "??");            // overlong
  CHECK(printable("\xe0\x82\x9b") == "???");       // overlong
  CHECK(printable("\xed\xa0\x80") == "???");       // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "????");  // beyond Unicode
  CHECK(printable("\xe2\x82") == "??");            // truncated
  CHECK(printable(std::string_view("\0x", 2)) == "?x");
  CHECK(printable("").empty());
}

TEST_CASE("shown text: lines of a text stay") {
  CHECK(printable_lines("one\ntwo\x1b\n") == "one\ntwo?\n");
}

TEST_CASE("shown text: a message is one line or indented lines on stderr, however long it is") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  REQUIRE(::dup2(::fileno(file), STDERR_FILENO) >= 0);
  print_message({"name \x1b[31m", " forged\nreprise: all is well"});
  const std::string many(5'000, 'x');
  print_message(many);
  std::fflush(stderr);
  REQUIRE(::dup2(before, STDERR_FILENO) >= 0);
  ::close(before);
  std::rewind(file);
  std::string text(10'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  CHECK(text == "reprise: name ?[31m forged\n  reprise: all is well\nreprise: " + many + "\n");
}

TEST_CASE("shown text: a lack of memory names what was done") {
  CHECK(failure_text(std::runtime_error("broken"), "reading ", "a") == "broken");
  CHECK(failure_text(std::bad_alloc(), "reading ", "a")
            .starts_with("out of memory while reading a: "));
}
