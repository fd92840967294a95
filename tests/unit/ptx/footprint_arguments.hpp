// Derives footprints of kernels with given arguments, for the tests of footprints.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/block_footprint.hpp"
#include "unit/ptx/ptx_kernels.hpp"

namespace reprise::test {

// The parameters of kernel k: k_param_0, k_param_1 and so on.
class FootprintArguments {
 public:
  FootprintArguments& pointer() {
    const std::uint32_t at = next(8);
    pointers_.push_back(at);
    const std::uint64_t address = kPtxAddress + at;
    std::memcpy(bytes_.data() + at, &address, sizeof(address));
    return declare("u64");
  }
  FootprintArguments& number(std::int32_t value) {
    const std::uint32_t at = next(4);
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
    return declare("u32");
  }
  FootprintArguments& unknown() {
    number(1);
    unknown_.push_back({static_cast<std::uint32_t>(bytes_.size()) - 4, 4});
    return *this;
  }

  [[nodiscard]] detail::Footprint footprint(std::string_view body,
                                            std::array<std::uint32_t, 3> grid,
                                            std::array<std::uint32_t, 3> block,
                                            std::string_view before = "") const {
    const detail::PtxModule module(ptx_module_text(
        std::string(before) + ".visible .entry k(" + declarations_ +
        "){ .reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<49>; .reg .b64 %rd<29>;\n" +
        std::string(body) + "}\n"));
    const detail::PtxFunction* entry = module.find_entry("k");
    REQUIRE(entry != nullptr);
    const detail::FootprintProgram program(module, *entry);
    return detail::derive_footprint(program, {.grid = grid,
                                              .block = block,
                                              .parameters = bytes_,
                                              .pointers = pointers_,
                                              .unknown = unknown_});
  }

 private:
  std::uint32_t next(std::uint32_t bytes) {
    const std::size_t at = (bytes_.size() + bytes - 1) / bytes * bytes;
    bytes_.resize(at + bytes);
    return static_cast<std::uint32_t>(at);
  }
  FootprintArguments& declare(const std::string& type) {
    declarations_ +=
        (count_ == 0 ? ".param ." : ", .param .") + type + " k_param_" + std::to_string(count_);
    ++count_;
    return *this;
  }

  std::vector<std::byte> bytes_;
  std::vector<std::uint32_t> pointers_;
  std::vector<detail::FootprintLaunch::Range> unknown_;
  std::string declarations_;
  int count_ = 0;
};

// The bytes of a footprint that block x, y can access at most.
struct ByteSpan {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
  friend std::ostream& operator<<(std::ostream& out, const ByteSpan& span) {
    return out << '[' << span.begin << ", " << span.end << ')';
  }
};
inline ByteSpan span_of(const detail::PointerFootprint& pointer, std::int64_t x,
                        std::int64_t y = 0) {
  REQUIRE_FALSE(pointer.is_unbounded);
  ByteSpan span{detail::Bounds::kHighest, detail::Bounds::kLowest};
  for (const detail::BlockBytes& bytes : pointer.bytes) {
    const std::int64_t start = bytes.step[0] * x + bytes.step[1] * y;
    const ByteSpan one{std::max(bytes.begin + start, bytes.lowest),
                       std::min(bytes.end + start, bytes.highest)};
    if (one.begin >= one.end) continue;
    span = {std::min(span.begin, one.begin), std::max(span.end, one.end)};
  }
  return span.begin < span.end ? span : ByteSpan{};
}

constexpr std::array<std::uint32_t, 3> kThreads = {256, 1, 1};

// The index of the thread's element is in %r4, the address of buffer k_param_0 in %rd1.
constexpr std::string_view kElement = R"(
	ld.param.u64 	%rd9, [k_param_0];
	cvta.to.global.u64 	%rd1, %rd9;
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	mov.u32 	%r3, %tid.x;
	mad.lo.s32 	%r4, %r1, %r2, %r3;
)";
inline std::string with_element(std::string_view body) {
  return std::string(kElement) + std::string(body);
}

// Stores to the element in %r4.
constexpr std::string_view kStore = R"(
	mul.wide.s32 	%rd2, %r4, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.f32 	[%rd3], %f1;
)";

}  // namespace reprise::test
