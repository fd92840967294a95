#include "ptx/persistent_kernel.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "ptx/persistent_part.hpp"
#include "ptx/ptx_words.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

namespace {

// rp_barrier: a barrier of the `count` threads of a part, in any flow; returns whether all of them
// have returned. All lanes of a warp arrive together: the hardware counts warps.
// rp_arrive: waits until all lanes of `mask` are here or have returned; the result is those here.
// rp_leave: the lanes of `mask` are no longer here.
// rp_set_condition: takes the place of cudaGraphSetConditional. The handle is an address.
constexpr std::string_view kHelperFunctions =
    R"(.func (.param .b32 rp_result) rp_barrier(.param .b32 rp_returned, .param .b32 rp_count)
{
.reg .b32 %a, %b, %c; .reg .pred %p, %q;
ld.param.b32 %a, [rp_returned]; ld.param.b32 %b, [rp_count];
setp.ne.u32 %q, %a, 0;
bar.warp.sync -1;
barrier.cta.red.and.pred %p, 1, %b, %q;
selp.u32 %c, 1, 0, %p;
st.param.b32 [rp_result], %c;
ret;
}
.func (.param .b32 rp_result) rp_arrive(.param .b32 rp_warp, .param .b32 rp_mask)
{
.reg .b32 %s, %m, %l, %b, %a, %r, %x; .reg .pred %p;
ld.param.b32 %s, [rp_warp]; ld.param.b32 %m, [rp_mask];
mov.u32 %l, %laneid; mov.u32 %b, 1; shl.b32 %b, %b, %l;
membar.cta;
red.shared.or.b32 [%s+4], %b;
$RP_WAIT:
ld.volatile.shared.u32 %a, [%s+4]; ld.volatile.shared.u32 %r, [%s];
or.b32 %x, %a, %r; not.b32 %x, %x; and.b32 %x, %x, %m;
setp.ne.u32 %p, %x, 0; @%p bra $RP_WAIT;
not.b32 %r, %r; and.b32 %m, %m, %r;
st.param.b32 [rp_result], %m;
ret;
}
.func rp_leave(.param .b32 rp_warp, .param .b32 rp_mask)
{
.reg .b32 %s, %m, %l, %b;
ld.param.b32 %s, [rp_warp]; ld.param.b32 %m, [rp_mask];
mov.u32 %l, %laneid; mov.u32 %b, 1; shl.b32 %b, %b, %l; not.b32 %b, %b;
red.shared.and.b32 [%s+4], %b;
bar.warp.sync %m;
ret;
}
.func rp_set_condition(.param .b64 rp_condition, .param .b32 rp_value)
{
.reg .b64 %a; .reg .b32 %v; .reg .pred %p;
ld.param.b64 %a, [rp_condition]; ld.param.b32 %v, [rp_value];
setp.ne.u32 %p, %v, 0;
@%p red.relaxed.gpu.global.or.b64 [%a], 1;
@!%p red.relaxed.gpu.global.and.b64 [%a], 0xffffffff00000000;
ret;
}
)";

// The first lane of each warp writes the time at the end of a part; see SegmentRecordTimes.
constexpr std::string_view kEndTime =
    "{ .reg .b32 %rp_q; .reg .pred %rp_z; setp.eq.u32 %rp_z, %rp_lane, 0; "
    "@%rp_z mov.u32 %rp_q, %globaltimer_lo; @%rp_z st.global.u32 [%rp_stamp], %rp_q; }\n";
static_assert(offsetof(SegmentRecordTimes, ended) == 8);
constexpr std::uint32_t kTimeBytes = sizeof(SegmentRecordTimes);
static_assert(offsetof(SegmentMark, record) == 0 && sizeof(SegmentMark) == 8);
// Bytes from the start of the state, which begins with the epoch and whether a loop goes on: blocks
// that have ended.
constexpr std::uint32_t kCountOfEnds = 128;
constexpr std::uint32_t kMaxIndices = 1024;
constexpr std::uint32_t kMaxTests = 3;  // of the kernel's index before a jump table

// The parts and the text that depends on them.
class PersistentKernelWriter {
 public:
  explicit PersistentKernelWriter(const PersistentKernelDesc& desc)
      : desc_(desc),
        pasted_(std::min(desc.pasted, static_cast<std::uint32_t>(desc.parts.size()))) {}

  PersistentKernel run() {
    for (const RewrittenPart* const part : desc_.parts) add(*part);
    PersistentKernel kernel;
    kernel.shared_base = kSharedBase;
    for (const RewrittenPart* const part : desc_.parts) kernel.parts.push_back(part->facts);
    kernel.text = concat(header(), kHelperFunctions);
    for (const std::string& declaration : declarations_) kernel.text += concat(declaration, ";\n");
    kernel.text += definitions_;
    for (std::uint32_t i = pasted_; i < texts_.size(); ++i) kernel.text += called_part(i);
    kernel.text += entry();
    return kernel;
  }

 private:
  // --- parts and the functions that they call ---

  void add(const RewrittenPart& part) {
    const std::size_t module =
        module_numbers_.try_emplace(part.of.module, module_numbers_.size()).first->second;
    const auto with_prefix = [prefix = concat("rp_m", module, "_")](std::string_view text) {
      std::string result;
      for (const char c : text) {
        if (c == kModuleMark) {
          result += prefix;
        } else {
          result += c;
        }
      }
      return result;
    };
    texts_.push_back(concat(part.start, is_timed() ? kPersistentStartTime : std::string_view(),
                            with_prefix(part.text)));
    for (const RewrittenFunction& one : part.functions) {
      const PtxFunction& function = *one.function;
      // Functions of the driver are the same in all modules.
      if (std::exchange(function.has_body ? is_written_[&function] : is_declared_[function.name],
                        true))
        continue;
      declarations_.push_back(with_prefix(one.declaration));
      if (!one.body.empty())
        definitions_ += concat(declarations_.back(), "\n", with_prefix(one.body), "\n");
    }
  }

  using Variant = PersistentKernelDesc::Variant;
  [[nodiscard]] bool is_timed() const { return desc_.variant == Variant::Timed; }
  [[nodiscard]] bool is_marked() const { return desc_.variant == Variant::Marked; }
  [[nodiscard]] bool is_loop() const { return desc_.variant == Variant::Loop; }

  // --- text ---

  // The highest version and target of the modules, and at least what the loop uses.
  [[nodiscard]] std::string header() const {
    std::pair<std::uint64_t, std::uint64_t> version{7, 8};
    std::pair<std::uint64_t, std::string> target{80, ""};
    for (const auto& [module, number] : module_numbers_) {
      for_number(module->version(), [&](std::uint64_t major, std::string_view rest) {
        std::uint64_t minor = 0;
        if (rest.starts_with('.'))
          std::from_chars(rest.data() + 1, rest.data() + rest.size(), minor);
        version = std::max(version, {major, minor});
      });
      const std::size_t name = std::min(module->target().find("sm_"), module->target().size());
      for_number(first_ptx_word(module->target().substr(name)),
                 [&](std::uint64_t architecture, std::string_view suffix) {
                   target = std::max(target, {architecture, std::string(suffix)});
                 });
    }
    return concat(".version ", version.first, ".", version.second, "\n.target sm_", target.first,
                  target.second, "\n.address_size 64\n\n",
                  ".extern .shared .align 1024 .b8 rp_shared[];\n");
  }

  // Calls `visit` with the first decimal number in a text and what follows it.
  template <class Visit>
  static void for_number(std::string_view text, const Visit& visit) {
    while (!text.empty() && !is_ptx_digit(text.front())) text.remove_prefix(1);
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc()) visit(number, std::string_view(rest, end));
  }

  static std::string local_memory(std::uint32_t bytes, std::uint32_t alignment) {
    if (bytes == 0) return {};
    return concat(".local .align ", alignment, " .b8 rp_depot[", bytes, "];\n");
  }

  // A part outside the loop.
  [[nodiscard]] std::string called_part(std::uint32_t index) const {
    const RewrittenPart& part = *desc_.parts[index];
    return concat("// ", part.of.entry, "\n.func rp_part", index,
                  "(.param .b32 rp_record, .param .b32 rp_thread, .param .b32 rp_base",
                  is_timed() ? ", .param .b64 rp_stamp" : "",
                  ")\n{\n.reg .b32 %rp_rec, %rp_thread, %rp_base, %rp_bits; .reg .b64 %rp_stamp; "
                  ".reg .pred %rp_sync;\n",
                  local_memory(part.local_bytes, part.local_alignment),
                  "ld.param.b32 %rp_rec, [rp_record]; ld.param.b32 %rp_thread, [rp_thread]; "
                  "ld.param.b32 %rp_base, [rp_base];\n",
                  is_timed() ? "ld.param.b64 %rp_stamp, [rp_stamp];\n" : "",
                  "ld.shared.u32 %rp_bits, [%rp_rec]; and.b32 %rp_bits, %rp_bits, ",
                  SegmentRecord::kSync, "; setp.ne.u32 %rp_sync, %rp_bits, 0;\n{\n", texts_[index],
                  "}\nret;\n}\n");
  }

  [[nodiscard]] std::string call_of(std::uint32_t index) const {
    return concat("{ .param .b32 rp_a; .param .b32 rp_b; .param .b32 rp_c; ",
                  is_timed() ? ".param .b64 rp_d; st.param.b64 [rp_d], %rp_stamp; " : "",
                  "st.param.b32 [rp_a], %rp_rec; st.param.b32 [rp_b], %rp_thread; "
                  "st.param.b32 [rp_c], %rp_base; call rp_part",
                  index, ", (rp_a, rp_b, rp_c", is_timed() ? ", rp_d" : "", "); }\n");
  }

  // Tests for the first parts, which predicates of the loop hold; then a jump table.
  [[nodiscard]] std::string dispatch() const {
    const std::uint32_t parts = static_cast<std::uint32_t>(texts_.size());
    const bool has_noop = parts < kMaxIndices;
    std::string text;
    for (std::uint32_t i = 0; i < tests(); ++i)
      text += concat("@%rp_k", i, " bra.uni $RP_PART", i, ";\n");
    if (tests() < parts) {
      text += "rp_targets: .branchtargets ";
      for (std::uint32_t i = 0; i < parts; ++i) text += concat(i == 0 ? "" : ", ", "$RP_PART", i);
      text += concat(has_noop ? ", $RP_NOOP" : "", ";\nbrx.idx.uni %rp_id, rp_targets;\n");
    }
    if (has_noop)
      text += concat("$RP_NOOP:\n@%rp_sync bar.sync 0;\n",
                     is_timed() ? kPersistentStartTime : std::string_view(), "bra.uni $RP_DONE;\n");
    for (std::uint32_t i = 0; i < parts; ++i) {
      text += concat("$RP_PART", i, ": // ", desc_.parts[i]->of.entry, "\n");
      text += i < pasted_ ? concat("{\n", texts_[i], "}\n") : call_of(i);
      text += "bra.uni $RP_DONE;\n";
    }
    return text;
  }
  [[nodiscard]] std::uint32_t tests() const {
    const auto parts = static_cast<std::uint32_t>(texts_.size());
    return std::min(kMaxTests, parts <= kMaxTests ? parts : pasted_);
  }

  // Executes the records of a chunk from %rp_next to the one with kLast.
  [[nodiscard]] std::string loop() const {
    using Record = SegmentRecord;
    std::uint32_t local_bytes = 0, local_alignment = 1;
    for (std::uint32_t i = 0; i < pasted_; ++i) {
      local_bytes = std::max(local_bytes, desc_.parts[i]->local_bytes);
      local_alignment = std::max(local_alignment, desc_.parts[i]->local_alignment);
    }
    std::string tests;
    for (std::uint32_t i = 0; i < this->tests(); ++i)
      tests += concat("setp.eq.u32 %rp_k", i, ", %rp_id, ", i, ";\n");
    const auto flag = [](std::string_view predicate, std::string_view word, std::uint32_t bit) {
      return concat("and.b32 %rp_x, ", word, ", ", bit, "; setp.ne.u32 ", predicate,
                    ", %rp_x, 0;\n");
    };
    const std::string counter =
        "mul.wide.u32 %rp_a, %rp_x, 4; add.s64 %rp_a, %rp_a, %rp_counters;\n";
    std::string text = concat(
        "{\n.reg .b32 %rp_rec, %rp_w, %rp_id, %rp_v, %rp_x, %rp_y, %rp_n, %rp_i;\n"
        ".reg .b64 %rp_a; .reg .pred %rp_slow, %rp_post, %rp_sync, %rp_p0, %rp_p1, %rp_k<3>;\n",
        local_memory(local_bytes, local_alignment), "ld.shared.u32 %rp_w, [%rp_next];\n",
        // %rp_w: the word of the next record. Branches are uniform in each warp.
        "$RP_LOOP:\nmov.u32 %rp_rec, %rp_next;\nsetp.lt.s32 %rp_slow, %rp_w, 0;\n",
        flag("%rp_sync", "%rp_w", Record::kSync), flag("%rp_post", "%rp_w", Record::kPost),
        "and.b32 %rp_id, %rp_w, ", kMaxIndices - 1, ";\n", tests, "@%rp_slow bra.uni $RP_SLOW;\n",
        "$RP_GO:\n", mark(SegmentMark::kRunning), "ld.shared.u32 %rp_w, [%rp_rec+", sizeof(Record),
        "];\n", dispatch(), "$RP_DONE:\n", is_timed() ? kEndTime : std::string_view(),
        mark(SegmentMark::kEnded), "@%rp_post bra.uni $RP_POST;\n",
        "$RP_NEXT:\nadd.u32 %rp_next, %rp_rec, ", sizeof(Record), ";\n",
        is_timed() ? concat("add.s64 %rp_stamp, %rp_stamp, ", kTimeBytes, ";\n") : std::string(),
        is_marked() ? "add.u32 %rp_number, %rp_number, 1;\n" : "", "bra.uni $RP_LOOP;\n");
    text += concat("$RP_POST:\nld.shared.u32 %rp_v, [%rp_rec];\n",
                   // %rp_v: the word of this record.
                   "$RP_PUBLISH:\n", flag("%rp_p0", "%rp_v", Record::kPublish),
                   "@!%rp_p0 bra.uni $RP_PUBLISHED;\n", "ld.shared.u32 %rp_x, [%rp_rec+",
                   offsetof(Record, counter), "];\n", counter,
                   "bar.sync 0; setp.eq.u32 %rp_p1, %rp_thread, 0;\n"
                   "@%rp_p1 red.release.gpu.global.add.u32 [%rp_a], 1;\nbar.warp.sync -1;\n"
                   "$RP_PUBLISHED:\n",
                   flag("%rp_p0", "%rp_v", Record::kLast),
                   "@!%rp_p0 bra.uni $RP_NEXT;\nbra.uni $RP_OUT;\n");
    // Lane l of warp 0 waits for counters l, l + 32, ...; the others wait at the record's barrier.
    text += concat(
        "$RP_SLOW:\nmov.u32 %rp_v, %rp_w;\n", flag("%rp_p0", "%rp_v", Record::kWaits),
        "@!%rp_p0 bra.uni $RP_READY;\n",
        "setp.ne.u32 %rp_p0, %rp_first, 0; @%rp_p0 bra.uni $RP_READY;\n",
        mark(SegmentMark::kWaiting), "ld.shared.u32 %rp_n, [%rp_rec+", offsetof(Record, waits),
        "]; mov.u32 %rp_i, %rp_lane;\n"
        "setp.ge.u32 %rp_p1, %rp_i, %rp_n; @%rp_p1 bra $RP_POLLED;\n",
        "$RP_ONE:\nsetp.lt.u32 %rp_p1, %rp_i, ", Record::kWaitsInside,
        "; @%rp_p1 bra $RP_INSIDE;\n", "ld.shared.u32 %rp_x, [%rp_rec+",
        offsetof(Record, more_waits), "]; add.u32 %rp_x, %rp_x, %rp_i; sub.u32 %rp_x, %rp_x, ",
        Record::kWaitsInside,
        "; mul.wide.u32 %rp_a, %rp_x, 8; add.s64 %rp_a, %rp_a, %rp_waits;\n"
        "ld.global.v2.u32 {%rp_x, %rp_y}, [%rp_a]; bra $RP_WAIT;\n",
        "$RP_INSIDE:\nshl.b32 %rp_x, %rp_i, 3; add.u32 %rp_x, %rp_x, %rp_rec;\n"
        "ld.shared.v2.u32 {%rp_x, %rp_y}, [%rp_x+",
        offsetof(Record, first_waits), "];\n$RP_WAIT:\nmul.lo.u32 %rp_y, %rp_y, %rp_epoch; ",
        counter,
        "$RP_SPIN:\nld.acquire.gpu.global.u32 %rp_x, [%rp_a]; sub.s32 %rp_x, %rp_x, %rp_y;\n"
        "setp.lt.s32 %rp_p1, %rp_x, 0; @%rp_p1 bra $RP_SPIN;\n"
        "add.u32 %rp_i, %rp_i, 32; setp.lt.u32 %rp_p1, %rp_i, %rp_n; @%rp_p1 bra $RP_ONE;\n"
        "$RP_POLLED:\nbar.warp.sync -1;\n");
    // A warp without threads of the block only takes part in the barriers.
    text += concat("$RP_READY:\n", flag("%rp_p0", "%rp_v", Record::kFull),
                   "@%rp_p0 bra.uni $RP_GO;\nshr.u32 %rp_x, %rp_v, ", Record::kThreadsShift,
                   "; and.b32 %rp_x, %rp_x, 1023; setp.le.u32 %rp_p0, %rp_first, %rp_x;\n"
                   "@%rp_p0 bra.uni $RP_GO;\n@%rp_sync bar.sync 0;\nld.shared.u32 %rp_w, [%rp_rec+",
                   sizeof(Record),
                   "];\n@%rp_post bra.uni $RP_PUBLISH;\nbra.uni $RP_NEXT;\n$RP_OUT:\n}\n");
    return text;
  }

  // The state of the warp that is here: after all earlier accesses, which may fault late, and
  // visible to the host before all later ones.
  [[nodiscard]] std::string mark(std::uint32_t state) const {
    if (!is_marked()) return {};
    return concat(
        "{ .reg .b32 %rp_q; .reg .pred %rp_z; setp.eq.u32 %rp_z, %rp_lane, 0; shl.b32 %rp_q, "
        "%rp_epoch, ",
        SegmentMark::kStateBits, "; or.b32 %rp_q, %rp_q, ", state,
        "; membar.sys; @%rp_z st.volatile.global.v2.u32 [%rp_mark], {%rp_number, %rp_q}; "
        "membar.sys; }\n");
  }

  // Copies the chunk of records that starts with number `from`, if any, to shared memory at `to`.
  // `label` makes the labels unique.
  [[nodiscard]] std::string fetch(std::string_view from, std::string_view to,
                                  std::string_view label) const {
    return concat("sub.s32 %n, %end, ", from, "; min.s32 %n, %n, ", SegmentRecord::kChunk,
                  "; mul.lo.s32 %n, %n, ", sizeof(SegmentRecord) / 16,
                  ";\nmov.u32 %k, %rp_thread; setp.ge.s32 %p, %k, %n; @%p bra $RP_", label,
                  "_FETCHED;\nmul.wide.s32 %source, ", from, ", ", sizeof(SegmentRecord),
                  "; add.s64 %source, %source, %records;\nmul.wide.u32 %a, %k, 16; "
                  "add.s64 %source, %source, %a; shl.b32 %x, %k, 4; add.s32 %x, %x, ",
                  to, ";\n$RP_", label,
                  "_FETCH:\ncp.async.cg.shared.global [%x], [%source], 16;\nadd.s32 %k, %k, ",
                  desc_.threads, "; add.s64 %source, %source, ", 16 * std::uint64_t{desc_.threads},
                  "; add.s32 %x, %x, ", 16 * std::uint64_t{desc_.threads},
                  ";\nsetp.lt.s32 %p, %k, %n; @%p bra $RP_", label, "_FETCH;\n$RP_", label,
                  "_FETCHED:\n");
  }

  [[nodiscard]] std::string entry() const {
    constexpr std::uint32_t kChunkBytes = SegmentRecord::kChunk * sizeof(SegmentRecord);
    std::string text = concat(".visible .entry ", PersistentKernel::kEntry, "(\n");
    constexpr std::array<std::string_view, 5> kParameters = {"records", "first", "counters",
                                                             "state", "waits"};
    for (const std::string_view parameter : kParameters)
      text += concat(parameter == kParameters[0] ? "" : ",\n", ".param .u64 rp_", parameter);
    if (is_timed())
      text +=
          ",\n.param .u64 rp_times,\n.param .u64 rp_ring,\n.param .u32 rp_row_mask,\n"
          ".param .u32 rp_row_bytes";
    if (is_marked()) text += ",\n.param .u64 rp_marks";
    if (is_loop())
      text += ",\n.param .u64 rp_condition,\n.param .u64 rp_loop,\n.param .u64 rp_limit";
    text += concat(
        ")\n.maxntid ", desc_.threads, ", 1, 1\n.minnctapersm ", desc_.blocks_per_multiprocessor,
        "\n{\n.reg .b32 %rp_thread, %rp_base, %rp_next, %rp_epoch, %rp_lane, %rp_first;\n"
        ".reg .b64 %rp_counters, %rp_waits, %rp_stamp, %rp_mark; .reg .b32 %rp_number;\n"
        ".reg .b32 %x, %y, %k, %n, %i, %end, %chunk, %previous;\n"
        ".reg .b64 %records, %source, %state, %times, %a; .reg .pred %p;\n");
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRegisters = {{
        {"%records", "records"},
        {"%rp_counters", "counters"},
        {"%state", "state"},
        {"%rp_waits", "waits"},
    }};
    for (const auto& [name, parameter] : kRegisters)
      text += concat("ld.param.u64 ", name, ", [rp_", parameter, "]; cvta.to.global.u64 ", name,
                     ", ", name, ";\n");
    if (is_timed())
      text +=
          "ld.param.u64 %times, [rp_times]; cvta.to.global.u64 %times, %times;\n"
          "ld.param.u64 %a, [rp_ring]; cvta.to.global.u64 %a, %a; ld.global.u32 %x, [%a]; "
          "add.u32 %x, %x, 1; ld.param.u32 %y, [rp_row_mask]; and.b32 %x, %x, %y;\n"
          "ld.param.u32 %y, [rp_row_bytes]; mul.wide.u32 %a, %x, %y; add.s64 %times, %times, %a;\n";
    text += concat(
        // Through a shuffle: registers hold the values, and special registers are not read again.
        "mov.u32 %x, %tid.x; and.b32 %y, %x, 31; "
        "shfl.sync.idx.b32 %rp_thread|%p, %x, %y, 31, -1;\n"
        "mov.u32 %x, rp_shared; mov.u32 %y, 0; shfl.sync.idx.b32 %rp_base|%p, %x, %y, 31, -1;\n"
        "and.b32 %rp_first, %rp_thread, -32; and.b32 %rp_lane, %rp_thread, 31;\n"
        // No lane of the warp has returned or arrived.
        "setp.gt.u32 %p, %rp_lane, 1; @%p bra $RP_CLEARED;\n"
        "shr.u32 %x, %rp_first, 2; shl.b32 %y, %rp_lane, 2; add.u32 %x, %x, %y; "
        "add.u32 %x, %x, %rp_base; mov.u32 %y, 0; st.volatile.shared.u32 [%x], %y;\n"
        "$RP_CLEARED:\n",
        is_marked() ? first_mark() : std::string(), is_loop() ? start_loop() : std::string_view(),
        "ld.param.u64 %a, [rp_first]; cvta.to.global.u64 %a, %a; mov.u32 %x, %ctaid.x; "
        "mul.wide.u32 %source, %x, 4; add.s64 %a, %a, %source;\n"
        "ld.global.u32 %i, [%a]; ld.global.u32 %end, [%a+4];\n"
        "ld.volatile.global.u32 %rp_epoch, [%state]; add.u32 %rp_epoch, %rp_epoch, 1;\n",
        is_loop() ? "mov.u32 %begin, %i;\n$RP_AGAIN:\n" : "",
        "mov.u32 %chunk, 0; add.u32 %y, %rp_base, ", kRingOffset, ";\n", fetch("%i", "%y", "FIRST"),
        is_loop() ? "$RP_FETCHED_BEFORE:\n" : "", "setp.ge.s32 %p, %i, %end; @%p bra $RP_FINISH;\n",
        is_timed() ? store_multiprocessor() : std::string(),
        // Copies the next chunk while the records of this one run.
        "$RP_CHUNK:\ncp.async.wait_all; bar.sync 0;\n"
        "add.u32 %rp_next, %rp_base, %chunk; add.u32 %rp_next, %rp_next, ",
        kRingOffset, ";\nsub.u32 %chunk, ", kChunkBytes, ", %chunk; add.u32 %y, %rp_base, %chunk; ",
        "add.u32 %y, %y, ", kRingOffset, ";\nmov.u32 %previous, %i; add.s32 %i, %i, ",
        SegmentRecord::kChunk, ";\n", fetch("%i", "%y", "NEXT"), "bar.warp.sync -1;\n",
        is_timed() ? concat("mul.wide.s32 %rp_stamp, %previous, ", kTimeBytes,
                            "; add.s64 %rp_stamp, %rp_stamp, %times;\n")
                   : std::string(),
        is_marked() ? "mov.u32 %rp_number, %previous;\n" : "", loop(),
        "bar.warp.sync -1;\nsetp.lt.s32 %p, %i, %end; @%p bra $RP_CHUNK;\n");
    return text + (is_loop() ? end_of_iteration() : end());
  }

  // The last block to end starts the next epoch.
  static std::string end() {
    return concat(
        "$RP_FINISH:\nbar.sync 0;\nsetp.ne.u32 %p, %rp_thread, 0; @%p bra $RP_EXIT;\n"
        "membar.gl; atom.global.add.u32 %x, [%state+",
        kCountOfEnds,
        "], 1; mov.u32 %y, %nctaid.x; sub.u32 %y, %y, 1;\n"
        "setp.ne.u32 %p, %x, %y; @%p bra $RP_EXIT;\nmov.u32 %x, 0; st.global.u32 [%state+",
        kCountOfEnds,
        "], %x;\nmembar.gl; st.volatile.global.u32 [%state], %rp_epoch;\n$RP_EXIT:\nret;\n}\n");
  }

  // The loop's counters: iterations of this run and of the replay, and whether the limit was
  // reached.
  static std::string_view start_loop() {
    return ".reg .b32 %begin; .reg .b64 %loop, %run, %replay;\n"
           "ld.param.u64 %loop, [rp_loop]; cvta.to.global.u64 %loop, %loop;\n"
           "ld.volatile.global.u64 %run, [%loop]; ld.volatile.global.u64 %replay, [%loop+8];\n";
  }

  // The last block to end decides for all blocks, which wait for its word: the epoch that has
  // ended, and whether the loop goes on. The condition and the number of blocks that have ended, in
  // all epochs, are one word, so that the last block knows both at once. What nobody waits for
  // follows the word. Records of one chunk are still in shared memory then.
  static std::string end_of_iteration() {
    return concat(
        "$RP_FINISH:\nadd.u64 %run, %run, 1; add.u64 %replay, %replay, 1;\n"
        "bar.sync 0;\nmov.u32 %y, 0; setp.ne.u32 %p, %rp_thread, 0; @%p bra $RP_MET;\n"
        "{ .reg .b64 %c, %word; .reg .pred %q;\n"
        "ld.param.u64 %c, [rp_condition]; cvta.to.global.u64 %c, %c; mov.u64 %word, 0x100000000; "
        "atom.acq_rel.gpu.global.add.u64 %word, [%c], %word; mov.b64 {%y, %x}, %word;\n"
        "add.u32 %x, %x, 1; mov.u32 %n, %nctaid.x; mul.lo.u32 %n, %n, %rp_epoch; "
        "setp.ne.u32 %p, %x, %n; @%p bra $RP_MEET;\n"
        "ld.param.u64 %a, [rp_limit]; setp.eq.u64 %q, %run, %a; @%q mov.u32 %y, 0; "
        "mov.b64 %word, {%rp_epoch, %y}; st.release.gpu.global.u64 [%state], %word;\n"
        "st.volatile.global.u64 [%loop], %run; st.volatile.global.u64 [%loop+8], %replay; "
        "mov.u64 %a, 1; @%q st.volatile.global.u64 [%loop+16], %a;\n"
        "setp.eq.u32 %q, %y, 0; @%q red.relaxed.gpu.global.or.b64 [%c], 1; bra $RP_MET;\n"
        "$RP_MEET:\nld.acquire.gpu.global.u64 %word, [%state]; mov.b64 {%x, %y}, %word;\n"
        "setp.ne.u32 %p, %x, %rp_epoch; @%p bra $RP_MEET;\n}\n"
        "$RP_MET:\nsetp.ne.u32 %p, %y, 0; bar.red.or.pred %p, 0, %p; @!%p ret;\n"
        "add.u32 %rp_epoch, %rp_epoch, 1; mov.u32 %i, %begin; mov.u32 %chunk, 0;\n"
        "sub.s32 %x, %end, %begin; setp.gt.s32 %p, %x, ",
        SegmentRecord::kChunk, "; @%p bra $RP_AGAIN;\nbra $RP_FETCHED_BEFORE;\n}\n");
  }

  // %rp_mark: the mark of this warp.
  [[nodiscard]] static std::string first_mark() {
    return concat(
        "ld.param.u64 %rp_mark, [rp_marks]; cvta.to.global.u64 %rp_mark, %rp_mark; "
        "mov.u32 %x, %ctaid.x; mul.lo.u32 %x, %x, ",
        SegmentMark::kWarps,
        "; shr.u32 %y, %rp_first, 5; add.u32 %x, %x, %y; mul.wide.u32 %a, %x, ",
        sizeof(SegmentMark), "; add.s64 %rp_mark, %rp_mark, %a;\n");
  }

  // Stores the multiprocessor in the times of the list's first record, and moves %times from the
  // first record to where the thread's warp stores its end.
  [[nodiscard]] static std::string store_multiprocessor() {
    return concat("mul.wide.s32 %a, %i, ", kTimeBytes,
                  "; add.s64 %a, %a, %times; setp.eq.u32 %p, %rp_thread, 0; "
                  "@%p mov.u32 %x, %smid; @%p st.global.u32 [%a+",
                  offsetof(SegmentRecordTimes, multiprocessor),
                  "], %x;\nshr.u32 %x, %rp_first, 5; min.u32 %x, %x, ",
                  SegmentRecordTimes::kWarps - 1, "; mul.wide.u32 %a, %x, 4; add.s64 %a, %a, ",
                  offsetof(SegmentRecordTimes, ended), "; add.s64 %times, %times, %a;\n");
  }

  const PersistentKernelDesc& desc_;
  const std::uint32_t pasted_;
  std::vector<std::string> texts_;  // by part
  std::map<const PtxModule*, std::size_t> module_numbers_;
  std::map<const PtxFunction*, bool> is_written_;
  std::map<std::string_view, bool> is_declared_;
  std::vector<std::string> declarations_;
  std::string definitions_;
};

}  // namespace

PersistentKernel make_persistent_kernel(const PersistentKernelDesc& desc) {
  return PersistentKernelWriter(desc).run();
}

}  // namespace reprise::detail
