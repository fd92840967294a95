#include "schedule/matched_commands.hpp"

#include <algorithm>
#include <unordered_map>

namespace reprise::detail {

namespace {

// How far behind a difference commands are looked for that match again.
constexpr std::uint32_t kLookAhead = 16;
constexpr std::size_t kFew = 64, kShare = 8;

// Most buffers have the number that follows that of the buffer before them.
std::vector<std::uint32_t> map_buffers(const Recording& now, const Recording& before) {
  std::vector<std::uint32_t> buffer_now(before.buffers.size(), kNone);
  std::unordered_map<const BufferCore*, std::uint32_t> numbers;
  std::size_t expected = 0;
  for (std::size_t i = 0; i < before.buffers.size(); ++i, ++expected) {
    const BufferCore* const buffer = before.buffers[i].get();
    if (expected >= now.buffers.size() || now.buffers[expected].get() != buffer) {
      if (numbers.empty()) {
        numbers.reserve(now.buffers.size());
        for (std::uint32_t n = 0; n < now.buffers.size(); ++n) numbers.emplace(now.buffers[n].get(), n);
      }
      const auto found = numbers.find(buffer);
      if (found == numbers.end()) {
        --expected;  // it went, and those behind it moved up
        continue;
      }
      expected = found->second;
    }
    buffer_now[i] = static_cast<std::uint32_t>(expected);
  }
  return buffer_now;
}

class Matcher {
 public:
  Matcher(const Recording& now, const Recording& before) : now_(now), before_(before) {
    result_.buffer_now = map_buffers(now, before);
    result_.before_of.assign(now.commands.size(), kNone);
    result_.now_of.assign(before.commands.size(), kNone);
  }

  std::optional<MatchedCommands> run() {
    const auto count = static_cast<std::uint32_t>(now_.commands.size()), count_before = static_cast<std::uint32_t>(before_.commands.size());
    const std::size_t most = std::max(kFew, count / kShare);
    std::size_t unmatched = 0;
    for (std::uint32_t n = 0, b = 0; n < count && b < count_before;) {
      if (touch_the_same(n, b)) {
        result_.before_of[n] = b;
        result_.now_of[b] = n;
        ++n;
        ++b;
        continue;
      }
      const Step step = next_match(n, b);
      n += step.now;
      b += step.before;
      unmatched += std::max(step.now, step.before);
      if (unmatched > most) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  struct Step {
    std::uint32_t now = 1, before = 1;
  };

  // The nearest commands behind two different ones that match.
  Step next_match(std::uint32_t n, std::uint32_t b) const {
    for (std::uint32_t far = 1; far <= kLookAhead; ++far) {
      for (std::uint32_t near = 0; near <= far; ++near) {
        if (touch_the_same(n + far, b + near)) return {far, near};
        if (touch_the_same(n + near, b + far)) return {near, far};
      }
    }
    return {};
  }

  bool touch_the_same(std::uint32_t n, std::uint32_t b) const {
    if (n >= now_.commands.size() || b >= before_.commands.size()) return false;
    const Command &x = now_.commands[n], &y = before_.commands[b];
    if (x.access_count != y.access_count) return false;
    for (std::uint32_t i = 0; i < x.access_count; ++i) {
      const BufferAccess &a = now_.accesses[x.first_access + i], &c = before_.accesses[y.first_access + i];
      if (a.begin != c.begin || a.end != c.end || a.access != c.access || a.buffer != result_.buffer_now[c.buffer]) return false;
    }
    return true;
  }

  const Recording &now_, &before_;
  MatchedCommands result_;
};

}  // namespace

std::optional<MatchedCommands> match_commands(const Recording& now, const Recording& before) { return Matcher(now, before).run(); }

}  // namespace reprise::detail
