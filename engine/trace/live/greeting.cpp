#include "trace/live/greeting.hpp"

#include <algorithm>
#include <charconv>

namespace reprise::trace {

namespace {

constexpr std::array<std::uint8_t, 4> kHelloMagic = {'R', 'V', 'W', '1'};
constexpr std::array<std::uint8_t, 4> kAnswerMagic = {'R', 'S', 'N', '1'};
constexpr std::uint8_t kNothing = 0xff;  // wire value: the viewer may request nothing

std::size_t get16(const std::uint8_t* in) { return in[0] | static_cast<std::size_t>(in[1]) << 8; }
void put16(std::uint8_t* out, std::size_t value) {
  out[0] = static_cast<std::uint8_t>(value);
  out[1] = static_cast<std::uint8_t>(value >> 8);
}

// A field of the session line: without separators, and limited so that three fields fit.
std::string field(std::string_view text) {
  std::string out(text.substr(0, kMaxSessionLineBytes / 3));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

}  // namespace

std::vector<std::uint8_t> encode_hello(std::string_view token) {
  token = token.substr(0, kMaxTokenBytes);
  std::vector<std::uint8_t> out(kGreetingHeadBytes + token.size());
  std::copy(kHelloMagic.begin(), kHelloMagic.end(), out.begin());
  put16(&out[4], token.size());
  std::copy(token.begin(), token.end(), out.begin() + kGreetingHeadBytes);
  return out;
}

std::optional<std::size_t> decode_hello(std::span<const std::uint8_t, kGreetingHeadBytes> head) {
  const std::size_t token_bytes = get16(&head[4]);
  if (!std::equal(kHelloMagic.begin(), kHelloMagic.end(), head.begin()) ||
      token_bytes > kMaxTokenBytes || get16(&head[6]) != 0)
    return {};
  return token_bytes;
}

bool same_token(std::string_view expected, std::string_view given) noexcept {
  std::array<std::uint8_t, kMaxTokenBytes> a{}, b{};
  const std::size_t a_size = std::min(expected.size(), a.size()),
                    b_size = std::min(given.size(), b.size());
  std::copy_n(expected.begin(), a_size, a.begin());
  std::copy_n(given.begin(), b_size, b.begin());
  volatile std::size_t different = expected.size() ^ given.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    different = different | static_cast<std::size_t>(a[i] ^ b[i]);
  return different == 0;
}

std::vector<std::uint8_t> encode_answer(LiveAnswer answer, std::optional<LiveProfile> allowed,
                                        const SessionLine& line) {
  const std::string text =
      std::to_string(line.pid) + '\t' + field(line.application) + '\t' + field(line.host);
  std::vector<std::uint8_t> out(kGreetingHeadBytes + text.size());
  std::copy(kAnswerMagic.begin(), kAnswerMagic.end(), out.begin());
  out[4] = static_cast<std::uint8_t>(answer);
  out[5] = allowed ? static_cast<std::uint8_t>(*allowed) : kNothing;
  put16(&out[6], text.size());
  std::copy(text.begin(), text.end(), out.begin() + kGreetingHeadBytes);
  return out;
}

std::optional<AnswerHead> decode_answer(std::span<const std::uint8_t, kGreetingHeadBytes> head) {
  AnswerHead out;
  out.line_bytes = get16(&head[6]);
  if (!std::equal(kAnswerMagic.begin(), kAnswerMagic.end(), head.begin()) ||
      out.line_bytes > kMaxSessionLineBytes)
    return {};
  out.answer = head[4] == static_cast<std::uint8_t>(LiveAnswer::Welcome) ? LiveAnswer::Welcome
                                                                         : LiveAnswer::WrongToken;
  if (head[5] <= static_cast<std::uint8_t>(LiveProfile::Every))
    out.allowed = static_cast<LiveProfile>(head[5]);
  return out;
}

SessionLine decode_session_line(std::string_view text) {
  SessionLine out;
  const std::size_t first = std::min(text.find('\t'), text.size());
  const std::size_t second =
      std::min(text.find('\t', std::min(first + 1, text.size())), text.size());
  std::from_chars(text.data(), text.data() + first, out.pid);
  if (first < text.size()) out.application = field(text.substr(first + 1, second - first - 1));
  if (second < text.size()) out.host = field(text.substr(second + 1));
  return out;
}

}  // namespace reprise::trace
