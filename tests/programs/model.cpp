#include "programs/model.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace reprise::test::programs {
namespace {

std::uint32_t word_at(const Bytes& bytes, std::uint64_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

void set_word(Bytes& bytes, std::uint64_t offset, std::uint32_t word) {
  std::memcpy(bytes.data() + offset, &word, sizeof word);
}

// The seed of the bytes of a memory's copy; equal for all copies of memory that has one copy.
std::uint32_t seed_of(const Program& program, std::uint32_t memory, std::uint32_t copy) {
  const Memory::Kind kind = program.memories[memory].kind;
  const bool is_shared = kind == Memory::Kind::Borrowed || kind == Memory::Kind::Scalar;
  return is_shared ? memory : copy * 1000 + memory;
}

}  // namespace

Model::Model(const Program& program, std::uint32_t copies)
    : program_(program), graphs_(program.graphs.size()), contents_(copies) {
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (std::uint32_t memory = 0; memory < program.memories.size(); ++memory)
      contents_[copy].push_back(
          bytes_of(seed_of(program, memory, copy), program.memories[memory].bytes));
  }
  for (std::uint32_t graph = 0; graph < graphs_.size(); ++graph) reset(graph, 0);
}

void Model::reset(std::uint32_t graph, std::uint32_t index) {
  GraphState& state = graphs_[graph];
  state = {index, program_.graphs[graph].recordings[index].slots, {}, {}};
  state.bound.resize(program_.memories.size());
  std::iota(state.bound.begin(), state.bound.end(), 0u);
}

void Model::launch(std::uint32_t graph, std::uint32_t replica) {
  std::vector<Bytes>& contents = contents_[replica];
  for (std::uint32_t memory = 0; memory < program_.memories.size(); ++memory) {
    if (program_.memories[memory].kind == Memory::Kind::Transient)
      std::ranges::fill(contents[memory], std::uint8_t{0});
  }
  const GraphState& state = graphs_[graph];
  execute(program_.graphs[graph].recordings[state.recording], {state, contents});
}

void Model::set_scalar(std::uint32_t value) {
  for (std::vector<Bytes>& contents : contents_) {
    for (std::uint32_t memory = 0; memory < program_.memories.size(); ++memory)
      if (program_.memories[memory].kind == Memory::Kind::Scalar)
        set_word(contents[memory], 0, value);
  }
}

void Model::change_host_memory(std::uint32_t seed) {
  for (std::uint32_t copy = 0; copy < contents_.size(); ++copy) {
    for (std::uint32_t memory = 0; memory < program_.memories.size(); ++memory) {
      const Memory::Kind kind = program_.memories[memory].kind;
      if (kind == Memory::Kind::Pinned || kind == Memory::Kind::Borrowed)
        contents_[copy][memory] =
            bytes_of(seed + seed_of(program_, memory, copy), program_.memories[memory].bytes);
    }
  }
}

void Model::execute(const Recording& recording, const Replay& replay) {
  for (const Command& command : recording.commands) {
    if (!replay.state.disabled.contains(command.id)) execute(command, replay);
  }
}

void Model::execute(const Command& command, const Replay& replay) {
  using Kind = Command::Kind;
  const auto memory = [&](const Location& at) -> Bytes& {
    return replay.contents[replay.state.bound[at.memory]];
  };
  const std::uint32_t value =
      command.slot == kNone ? command.value : replay.state.slots[command.slot];
  const auto from = [&](std::uint32_t i) {
    return word_at(memory(command.from), command.from.offset + 4 * std::uint64_t{i});
  };
  const auto to = [&](std::uint32_t i) {
    return word_at(memory(command.to), command.to.offset + 4 * std::uint64_t{i});
  };
  const auto set = [&](std::uint32_t i, std::uint32_t word) {
    set_word(memory(command.to), command.to.offset + 4 * std::uint64_t{i}, word);
  };
  const auto mix = [&](std::uint32_t salt) {
    for (std::uint32_t i = 0; i < command.words; ++i)
      set(i, to(i) * 1664525u + (from(i) ^ salt) + 1013904223u);
  };
  const Extent& extent = command.shape.extent;
  const auto move = [&](const Bytes& source, std::uint64_t first, const Pitch& pitch) {
    const Pitch& destination = command.shape.destination;
    for (std::uint64_t z = 0; z < extent.depth; ++z) {
      for (std::uint64_t y = 0; y < extent.height; ++y)
        std::copy_n(
            source.begin() + static_cast<std::ptrdiff_t>(first + z * pitch.slice + y * pitch.row),
            extent.width,
            memory(command.to).begin() +
                static_cast<std::ptrdiff_t>(command.to.offset + z * destination.slice +
                                            y * destination.row));
    }
  };
  switch (command.kind) {
    case Kind::Add:
      for (std::uint32_t i = 0; i < command.words; ++i) set(i, from(i) + value);
      return;
    case Kind::Mix:
    case Kind::MixOp: return mix(value);
    case Kind::Reverse:
      for (std::uint32_t i = 0; i < command.words; ++i)
        set(i, from(i / command.block * command.block + command.block - 1 - i % command.block));
      return;
    case Kind::Sum:
      for (std::uint32_t i = 0; i < command.words; ++i) set(0, to(0) + from(i) * value);
      return;
    case Kind::Fill:
      for (std::uint64_t y = 0; y < extent.height; ++y) {
        for (std::uint64_t x = 0; x < extent.width; ++x)
          memory(command.to)[command.to.offset + y * command.shape.destination.row + x] =
              static_cast<std::uint8_t>(value >> 8 * (x % command.element_bytes));
      }
      return;
    case Kind::Copy:
      if (command.from.memory != kNone)
        return move(memory(command.from), command.from.offset, command.shape.source);
      return move(bytes_of(value, span_of(extent, command.shape.source)), 0, command.shape.source);
    case Kind::Update: return move(bytes_of(value, extent.width), 0, {});
    case Kind::Host:
      for (std::uint32_t i = 0; i < command.words; ++i) set(i, to(i) * 1664525u + value);
      return;
    case Kind::Op: mix(value); return mix(value + 1);
    case Kind::Execute:
    case Kind::Nested: return execute(command.bodies[0], replay);
    case Kind::If: {
      const std::size_t body = from(0) % 2 == 1 ? 0 : 1;
      if (body < command.bodies.size()) execute(command.bodies[body], replay);
      return;
    }
    case Kind::While:
      for (std::uint32_t i = 0; i < value; ++i) execute(command.bodies[0], replay);
      return;
    case Kind::Switch: {
      const std::size_t body = from(0) % (command.bodies.size() + 1);
      if (body < command.bodies.size()) execute(command.bodies[body], replay);
      return;
    }
  }
}

}  // namespace reprise::test::programs
