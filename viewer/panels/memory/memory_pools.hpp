// PoolFacts: the pools of a session with who holds them and how they grew, what devices give in
// all, and every buffer that is known: persistent ones of all pools, and those of one graph. Knows
// no ImGui. Threads: values and a pure function.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/document.hpp"

namespace reprise::viewer {

struct PoolPoint {
  trace::Time at = 0;
  std::uint64_t device_bytes = 0, host_bytes = 0;
  std::uint64_t mapped = 0;  // device memory with pages, slabs of graphs included; 0: not told
};

struct PoolRow {
  trace::PoolState state;
  std::string device;           // its name
  std::string holders;          // names of graphs; empty: nobody
  std::string earlier_holders;  // that held it once and do not now
  std::string sharers;  // names of graphs whose transients lie in one slab of it; empty: none
  std::string earlier_sharers;     // that did once and do not now
  std::vector<PoolPoint> history;  // by time
  // The most at one time; most_bytes: device and host together, or what it took of the device where
  // that is more.
  std::uint64_t most_device = 0, most_host = 0, most_bytes = 0;
  std::uint32_t most_buffers = 0;
  // What the pool takes of the device, and its budget, are in `state`.
  [[nodiscard]] bool is_memory_told() const noexcept { return state.peak != 0; }
};

// All that the engine takes of a device.
struct DeviceRow {
  trace::DeviceTotals totals;
  std::string name;
  std::vector<PoolPoint> history;  // by time; device_bytes: of all buffers
  std::uint64_t most_buffers = 0;  // bytes, at one time
};

struct BufferRow {
  std::string name, pool;
  trace::BufferKind kind = trace::BufferKind::Device;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;             // in the slab, of a transient; 0: unknown
  trace::Time allocated = 0, freed = 0;  // 0: unknown; alive
  std::uint32_t buffer = trace::kNone;   // of the graph; kNone: it does not touch it
  std::uint32_t uses = 0;                // by nodes of the graph
  std::string other_graphs;              // that touch it, by name
};

struct PoolViewModel {
  std::shared_ptr<const model::Graph> graph;  // may be null
  std::vector<PoolRow> pools;                 // by id
  std::vector<DeviceRow> devices;             // by id, those whose memory the trace tells of
  std::vector<BufferRow> buffers;
  trace::Time first = 0, last = 0;  // of the document
  std::uint64_t most_bytes = 0;     // of a pool or a device, the slabs of graphs included
};

[[nodiscard]] PoolViewModel pool_view_model(const model::Document& document,
                                            std::shared_ptr<const model::Graph> graph);

enum class BufferColumn : std::uint8_t { Name, Kind, Bytes, Address, Pool, Allocated, Freed, Uses };
struct BufferOrder {
  BufferColumn by = BufferColumn::Bytes;
  bool is_descending = true;
  friend bool operator==(const BufferOrder&, const BufferOrder&) = default;
};
// Places in `facts.buffers`. With `matches`, a buffer of the graph each, only those of the graph
// that it lets pass.
[[nodiscard]] std::vector<std::uint32_t> ordered_buffers(const PoolViewModel& view_model,
                                                         BufferOrder order,
                                                         const std::vector<std::uint8_t>& matches);

}  // namespace reprise::viewer
