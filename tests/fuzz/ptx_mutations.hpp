// mutate_ptx: changes PTX so that ptxas often accepts the result. For the fuzzer and the tests of
// ptx/. Threads: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ptx_words.hpp"

namespace reprise::test {

// Statements that can be inserted into any body.
constexpr std::array<std::string_view, 32> kPtxSnippets = {
    "{ .reg .b32 %rp_base; mov.u32 %rp_base, 64; }",
    "{ .reg .b32 %rp_m, %rp_n; .reg .pred %rp_q; setp.eq.u32 %rp_q, %rp_m, %rp_n; @%rp_q ret; }",
    "{ $RP_RETURN: membar.cta; }",
    "{ .reg .pred p; .reg .b32 t; mov.u32 t, %tid.x; setp.eq.u32 p, t, 0; @p bra D; bar.sync 0; D: "
    "}",
    "{ .reg .pred p; .reg .b32 t; mov.u32 t, %laneid; setp.eq.u32 p, t, 0; @!p ret; }",
    "{ .reg .b32 t<2>; .reg .pred q; mov.u32 t0, 1; shfl.sync.bfly.b32 t1|q, t0, 1, 31, -1; }",
    "{ .reg .b32 t; .reg .pred p; setp.ne.u32 p, t, 0; @p vote.sync.ballot.b32 t, p, -1; }",
    "{ .reg .b32 t; mov.u32 t, %ctaid.y; T: .branchtargets A, B; brx.idx t, T; A: B: }",
    "{ .shared .align 8 .b32 s[04]; .reg .b32 t; st.shared.u32 [s+010], t; }",
    "{ .shared .b64 z; .reg .b64 t; mov.u64 t, z; cvta.shared.u64 t, t; }",
    "{ .local .b64 l[2]; .reg .b64 t; mov.u64 t, l+8; st.local.u64 [l+0x8], t; }",
    "{ .reg .v4 .b32 %tid; .reg .b32 t; mov.u32 t, %tid.x; }",
    "{ .reg .b32 r<010>; mov.u32 r7, 017; mov.u32 r07, 0b101U; }",
    "{ .reg .b32 s; mov.u32 s, 1; }",
    "{ .reg .b32 t; mov.u32 t, %nctaid.z; add.cc.u32 t, t, 1; addc.u32 t, t, 0; }",
    "{ .reg .b32 t; mov.u32 t, %dynamic_smem_size; mov.u32 t, %clock; mov.u32 t, WARP_SZ; }",
    "{ .reg .f32 f; mul.f32 f, f, f; add.rn.f32 f, f, 0f3F800000; }",
    "{ .reg .pred p; bar.red.or.pred p, 0, p; }",
    "{ .reg .b32 t; .reg .pred p; mov.u32 t, 0; L: add.u32 t, t, 1; setp.lt.u32 p, t, 7; @p bra L; "
    "}",
    ".pragma \"nounroll\";",
    "{ { { exit; } } }",
    "bar.warp.sync 0xffffffff;",
    "bar.sync 2, 32;",
    "barrier.cta.sync 0;",
    "bar.cta.sync 00;",
    "{ .reg .b64 q; .reg .b32 t; mov.u64 q, 16; ld.const.u32 t, [q]; ld.param.u32 t, [q]; }",
    "membar.gl;",
    "cp.async.wait_all;",
    "trap;",
    "/* ret; } */",
    "// \"{",
    "{ .reg .b64 t; .reg .b32 u; ld.u32 u, [t+04]; atom.add.u32 u, [t], 1; }"};

constexpr std::array<std::string_view, 8> kPtxLabels = {
    "$RP_RETURN", "$RP_AGAIN", "$RP_DO7", "$RP_END7", "$RP_LOOP", "$RP_DONE", "$RP_", "RP_RETURN"};
constexpr std::array<std::string_view, 8> kPtxNames = {"rp_base",    "rp_x", "rp_m",  "rp_depot",
                                                       "rp_barrier", "rp_a", "rpu_x", "rp_s1"};

namespace ptx_mutations {

using Random = std::mt19937_64;

inline std::size_t below(std::size_t limit, Random& random) { return random() % limit; }

inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = detail::first_ptx_word(text.substr(at));
    if (!word.empty()) words.push_back(word);
    at += std::max<std::size_t>(1, word.size());
  }
  return words;
}

// Replaces each word for which `replacement` gives another one.
template <class Replacement>
std::string with_words(std::string_view text, const Replacement& replacement) {
  std::string result;
  while (!text.empty()) {
    const std::string_view word = detail::first_ptx_word(text);
    if (word.empty()) {
      result += text.front();
    } else {
      result += replacement(word);
    }
    text.remove_prefix(std::max<std::size_t>(1, word.size()));
  }
  return result;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

inline std::string change_lines(std::string_view text, std::size_t kind, std::size_t max_bytes,
                                Random& random) {
  std::vector<std::string> lines = lines_of(text);
  const auto at = [&](std::size_t index) {
    return lines.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const std::size_t first = below(lines.size(), random);
  const std::size_t end = std::min(lines.size(), first + 1 + below(6, random));
  switch (kind) {
    case 0: lines.erase(at(first)); break;
    case 1: lines.insert(at(below(lines.size(), random)), std::string(*at(first))); break;
    case 2:
      lines.insert(at(end), "}\n");
      lines.insert(at(first), "{\n");
      break;
    case 3: {
      std::string repeated;
      for (std::size_t i = first; i < end; ++i) repeated += lines[i];
      const std::size_t room = max_bytes > text.size() ? max_bytes - text.size() : 0;
      const std::size_t doublings = below(below(8, random) == 0 ? 14 : 4, random);
      const std::size_t count = std::min(room / repeated.size(), std::size_t{1} << doublings);
      std::string all;
      for (std::size_t i = 0; i < count; ++i) all += repeated;
      lines.insert(at(end), std::move(all));
      break;
    }
    default:
      lines.insert(at(first), std::string(kPtxSnippets[below(kPtxSnippets.size(), random)]) + "\n");
      break;
  }
  std::string result;
  for (const std::string& line : lines) result += line;
  return result;
}

// The same number in another base.
inline std::string respelt(std::string_view word, Random& random) {
  const auto number = detail::parse_ptx_number(word);
  if (!number) return std::string(word);
  const std::uint64_t base = std::array<std::uint64_t, 4>{2, 8, 10, 16}[below(4, random)];
  std::string digits;
  for (std::uint64_t rest = *number; rest != 0; rest /= base)
    digits.insert(digits.begin(), "0123456789abcdef"[rest % base]);
  if (base == 10) return digits.empty() ? "0" : digits;
  return (base == 2 ? "0b" : base == 8 ? "0" : "0x") + (digits.empty() ? "0" : digits);
}

inline std::string change_words(std::string_view text, std::size_t kind, Random& random) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty()) return std::string(text);
  const std::string_view one = words[below(words.size(), random)];
  std::string_view other = words[below(words.size(), random)];
  for (int i = 0; i < 8 && other.front() != one.front(); ++i)
    other = words[below(words.size(), random)];
  const auto is_one = [&](std::string_view word) { return word.data() == one.data(); };
  switch (kind) {
    case 0:
      return with_words(
          text, [&](std::string_view word) { return std::string(is_one(word) ? other : word); });
    case 1:
      return with_words(text, [&](std::string_view word) {
        return is_one(word) ? respelt(word, random) : std::string(word);
      });
    default: {  // renames it, or the registers of its range, everywhere
      std::string_view stem = one;
      while (stem.size() > 1 && detail::is_ptx_digit(stem.back())) stem.remove_suffix(1);
      const bool is_label = one.front() == '$';
      std::string name(is_label ? kPtxLabels[below(kPtxLabels.size(), random)]
                                : kPtxNames[below(kPtxNames.size(), random)]);
      if (one.front() == '%') name.insert(0, 1, '%');
      return with_words(text, [&](std::string_view word) {
        if (word == one && is_label) return name;
        if (is_label || !word.starts_with(stem)) return std::string(word);
        const std::string_view digits = word.substr(stem.size());
        if (!std::all_of(digits.begin(), digits.end(), detail::is_ptx_digit))
          return std::string(word);
        return name + std::string(digits);
      });
    }
  }
}

}  // namespace ptx_mutations

// One change. The result depends only on the arguments and has at most `max_bytes`.
inline std::string mutate_ptx(std::string_view text, std::size_t max_bytes,
                              std::mt19937_64& random) {
  using namespace ptx_mutations;
  if (text.empty()) return std::string(kPtxSnippets[0]).substr(0, max_bytes);
  std::string result;
  switch (const std::size_t kind = below(12, random)) {
    case 0:
    case 1:
    case 2:
    case 3: result = change_lines(text, kind, max_bytes, random); break;
    case 4:
    case 5:
    case 6: result = change_lines(text, 4, max_bytes, random); break;
    case 7:
    case 8:
    case 9: result = change_words(text, kind - 7, random); break;
    case 10: {  // a comment or a line break in the place of a space
      result = text;
      const std::size_t space = result.find_first_of(" \t", below(text.size(), random));
      if (space != result.npos)
        result.replace(space, 1, below(2, random) == 0 ? "/* ; \" */" : "\n");
      break;
    }
    default:
      result = text;
      result[below(result.size(), random)] = static_cast<char>(' ' + below(95, random));
      break;
  }
  if (result.size() > max_bytes) result.resize(max_bytes);
  return result;
}

}  // namespace reprise::test
