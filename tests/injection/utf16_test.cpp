#include "injection/utf16.hpp"

#include <doctest/doctest.h>

namespace reprise::test {

TEST_CASE("wide text: characters of every length become UTF-8, and invalid ones U+FFFD") {
  using detail::to_utf8;
  CHECK(to_utf8(L"") == "");
  CHECK(to_utf8(L"plain\x7f") == "plain\x7f");
  CHECK(to_utf8(L"\u0080\u07ff") == "\xc2\x80\xdf\xbf");
  CHECK(to_utf8(L"\u0800\uffff") == "\xe0\xa0\x80\xef\xbf\xbf");
  CHECK(to_utf8(L"\U00010000\U0010ffff") == "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  const wchar_t none[] = {static_cast<wchar_t>(0xd800), static_cast<wchar_t>(0xdfff),
                          static_cast<wchar_t>(0x110000), static_cast<wchar_t>(0xffffffff)};
  CHECK(to_utf8({none, 4}) == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace reprise::test
