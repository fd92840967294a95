// Random fills, copies and updates against plain C++: as recorded, and after every kind of change.
#include <algorithm>
#include <array>
#include <random>

#include "conformance/device_fixture.hpp"

namespace reprise::test::transfers_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kBytes = 3000;  // of each memory

// Two device buffers, a pinned one, and memory that belongs to one transfer.
enum class Memory : std::uint8_t { First, Second, Pinned, Own };

struct Transfer {
  enum class Kind : std::uint8_t { Fill, Copy, Update } kind = Kind::Fill;
  Memory from = Memory::Own, to = Memory::First;
  std::uint64_t source = 0, destination = 0;  // first bytes
  CopyDesc shape;                             // a fill uses shape.destination
  std::uint32_t bits = 0, element_bytes = 1;
  bool is_snapshot = false;  // of `own`, which is borrowed otherwise
  bool is_enabled = true;
  std::shared_ptr<Bytes> own;
};

using Transfers = std::vector<Transfer>;
using Contents = std::array<Bytes, 3>;  // by Memory, without Own

std::uint64_t span_of(const Extent& extent, const Pitch& pitch) {
  return (extent.depth - 1) * pitch.slice + (extent.height - 1) * pitch.row + extent.width;
}

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  Transfers transfers() {
    Transfers made(2 + below(8));
    for (Transfer& transfer : made) transfer = one();
    return made;
  }

  // The same commands and shapes with other values and, for transfers of one row, other locations.
  Transfers with_other_values(Transfers transfers) {
    for (Transfer& transfer : transfers) {
      transfer.bits = static_cast<std::uint32_t>(random_());
      if (transfer.shape.extent.height == 1 && transfer.shape.extent.depth == 1) place(transfer);
      if (transfer.kind == Transfer::Kind::Update || transfer.is_snapshot) transfer.own = bytes();
    }
    return transfers;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::shared_ptr<Bytes> bytes() {
    auto made = std::make_shared<Bytes>(kBytes);
    for (std::uint8_t& byte : *made) byte = static_cast<std::uint8_t>(random_());
    return made;
  }

 private:
  Transfer one() {
    Transfer made;
    made.kind = static_cast<Transfer::Kind>(below(3));
    const bool is_copy = made.kind == Transfer::Kind::Copy;
    made.to = static_cast<Memory>(below(is_copy ? 4 : 3));
    if (is_copy) {
      do {
        made.from = static_cast<Memory>(below(4));
      } while (made.from == made.to);
      made.is_snapshot = made.from == Memory::Own && below(2) == 0;
    }
    made.bits = static_cast<std::uint32_t>(random_());
    made.element_bytes = made.kind == Transfer::Kind::Fill ? 1u << below(3) : 1;
    const std::uint64_t unit = made.element_bytes;
    Extent& extent = made.shape.extent;
    extent = {unit * (1 + below(below(2) == 0 ? 4 : 60)), 1, 1};
    if (made.kind != Transfer::Kind::Update && below(3) != 0) extent.height = 1 + below(5);
    if (is_copy && below(3) == 0) extent.depth = 1 + below(3);
    for (Pitch* const pitch : {&made.shape.source, &made.shape.destination}) {
      pitch->row = extent.width + unit * below(below(2) == 0 ? 1 : 7);
      pitch->slice = pitch->row * (extent.height + (is_copy ? below(2) : 0));
    }
    made.own = bytes();
    place(made);
    return made;
  }

  void place(Transfer& transfer) {
    const auto first = [&](const Pitch& pitch) {
      const std::uint64_t room = kBytes - span_of(transfer.shape.extent, pitch);
      return below(room / transfer.element_bytes + 1) * transfer.element_bytes;
    };
    transfer.source = first(transfer.shape.source);
    transfer.destination = first(transfer.shape.destination);
  }

  std::mt19937 random_;
};

// The effect of the transfers in recorded order, in plain C++.
void apply(const Transfers& transfers, Contents& contents) {
  for (const Transfer& transfer : transfers) {
    if (!transfer.is_enabled) continue;
    const auto at = [&](Memory memory) -> Bytes& {
      return memory == Memory::Own ? *transfer.own : contents[static_cast<std::size_t>(memory)];
    };
    Bytes& to = at(transfer.to);
    const auto& [extent, source, destination] = transfer.shape;
    for (std::uint64_t z = 0; z < extent.depth; ++z)
      for (std::uint64_t y = 0; y < extent.height; ++y)
        for (std::uint64_t x = 0; x < extent.width; ++x)
          to[transfer.destination + z * destination.slice + y * destination.row + x] =
              transfer.kind == Transfer::Kind::Fill
                  ? static_cast<std::uint8_t>(transfer.bits >> 8 * (x % transfer.element_bytes))
                  : at(transfer.from)[transfer.source + z * source.slice + y * source.row + x];
  }
}

// Buffers with known contents, and graphs of transfers between them.
class Runner {
 public:
  Runner(const DeviceFixture& f, Generator& generator) : f_(f) {
    for (Bytes& bytes : initial_) bytes = *generator.bytes();
  }

  struct Recorded {
    CommandBuffer commands;
    std::vector<CommandRef> refs;  // by transfer
  };
  [[nodiscard]] Recorded recorded(const Transfers& transfers) const {
    Recorded made{f_.recording({.label = "transfers"}), {}};
    for (const Transfer& transfer : transfers) made.refs.push_back(record(made.commands, transfer));
    made.commands.end();
    return made;
  }

  // Replays from the initial contents and compares all memory with the result of plain C++.
  // `first`: the buffer that is Memory::First in this graph.
  void check(CapturedGraph& graph, const Transfers& transfers, const GpuRef<std::uint8_t>& first) {
    f_.run([&](CommandBuffer& cmd) {
      cmd.copy(snapshot(initial_[0]), first);
      cmd.copy(snapshot(initial_[1]), second_);
    });
    std::ranges::copy(initial_[2], pinned_.span().begin());
    std::vector<Bytes> own, own_expected;  // before and after
    for (const Transfer& transfer : transfers) own.push_back(*transfer.own);
    graph.launch(f_.queue).wait();
    Contents found{f_.values(first), f_.values(second_),
                   Bytes(pinned_.span().begin(), pinned_.span().end())};
    std::vector<Bytes> own_found;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      own_found.push_back(*transfers[i].own);
      *transfers[i].own = own[i];
    }
    Contents expected = initial_;
    apply(transfers, expected);
    for (std::size_t i = 0; i < transfers.size(); ++i) REQUIRE(own_found[i] == *transfers[i].own);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      REQUIRE(found[i] == expected[i]);
    }
  }

  [[nodiscard]] const GpuRef<std::uint8_t>& first() const { return first_; }
  [[nodiscard]] const GpuRef<std::uint8_t>& other() const { return other_; }

 private:
  CommandRef record(CommandBuffer& cmd, const Transfer& transfer) const {
    const auto view = [&](Memory memory, std::uint64_t offset) -> BufferView {
      if (memory == Memory::Pinned) return pinned_.subview(offset, kBytes - offset);
      return (memory == Memory::First ? first_ : second_).subview(offset, kBytes - offset);
    };
    const std::span own(*transfer.own);
    const auto& [extent, source, destination] = transfer.shape;
    switch (transfer.kind) {
      case Transfer::Kind::Fill:
        return cmd.fill_bits(view(transfer.to, transfer.destination), transfer.bits,
                             transfer.element_bytes, extent, {destination.row, 0});
      case Transfer::Kind::Update:
        return cmd.update(view(transfer.to, transfer.destination),
                          std::as_bytes(own.subspan(transfer.source, extent.width)));
      case Transfer::Kind::Copy: break;
    }
    if (transfer.to == Memory::Own)
      return cmd.copy(view(transfer.from, transfer.source),
                      borrowed(own.subspan(transfer.destination)), transfer.shape);
    const BufferView to = view(transfer.to, transfer.destination);
    if (transfer.from != Memory::Own)
      return cmd.copy(view(transfer.from, transfer.source), to, transfer.shape);
    const std::span<const std::uint8_t> from = own.subspan(transfer.source);
    return cmd.copy(transfer.is_snapshot ? snapshot(from) : borrowed(from), to, transfer.shape);
  }

  const DeviceFixture& f_;
  Contents initial_;
  GpuRef<std::uint8_t> first_ = f_.pool->allocate<std::uint8_t>(kBytes, "first"),
                       second_ = f_.pool->allocate<std::uint8_t>(kBytes, "second"),
                       other_ = f_.pool->allocate<std::uint8_t>(kBytes, "other");
  HostRef<std::uint8_t> pinned_ = f_.pool->host<std::uint8_t>(kBytes, "pinned");
};

void check_changes(const DeviceFixture& f, std::uint32_t seed, Lowering lowering) {
  Generator generator(seed);
  Runner runner(f, generator);
  Transfers now = generator.transfers();
  Runner::Recorded recorded = runner.recorded(now);  // that the graph has
  CapturedGraph graph = f.compile(recorded.commands, lowering);
  const auto check = [&] { runner.check(graph, now, runner.first()); };
  check();

  const auto repeat = [&] {  // an identical recording
    recorded = runner.recorded(now);
    const UpdateReport report = graph.exec_update(recorded.commands);
    CAPTURE(report.reason);
    REQUIRE(report.done());
    check();
    return report.method;
  };
  const auto disable_some = [&] {
    for (std::size_t i = 0; i < now.size(); ++i) {
      now[i].is_enabled = generator.below(2) == 0;
      now[i].is_enabled ? graph.enable(recorded.refs[i]) : graph.disable(recorded.refs[i]);
    }
    check();
    for (Transfer& transfer : now) transfer.is_enabled = true;  // by the next update
  };
  CHECK(repeat() == UpdateMethod::Unchanged);
  disable_some();
  static_cast<void>(repeat());

  const Transfers before = std::exchange(now, generator.with_other_values(now));
  recorded = runner.recorded(now);
  REQUIRE(graph.update(recorded.commands).done());
  check();
  CHECK(repeat() == UpdateMethod::Unchanged);

  Runner::Recorded original = runner.recorded(before);
  if (graph.exec_update(original.commands).done()) {
    now = before;
    recorded = std::move(original);
  }
  check();

  const bool uses_first = std::ranges::any_of(now, [](const Transfer& transfer) {
    return transfer.to == Memory::First ||
           (transfer.kind == Transfer::Kind::Copy && transfer.from == Memory::First);
  });
  if (uses_first) {
    REQUIRE(graph.rebind(runner.first(), runner.other()).done());
    runner.check(graph, now, runner.other());
    REQUIRE(graph.rebind(runner.first(), runner.first()).done());
    check();
  }
  disable_some();
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "transfers: random ones move what plain C++ moves, before and after changes") {
  const std::uint32_t seed = std::random_device{}();
  const bool has_segments = device.info().limits.max_segment_blocks != 0;
  for (std::uint32_t i = 0; i < 60; ++i) {
    CAPTURE(seed + i);
    const Lowering lowerings[] = {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(2),
                                  has_segments ? Lowering::Persistent : Lowering::Auto};
    check_changes(*this, seed + i, lowerings[i % std::size(lowerings)]);
  }
}

}  // namespace reprise::test::transfers_test
