// PoolViewModel: the pools of a session with holders and history, device totals, and all known
// buffers: persistent buffers of all pools and the buffers of one graph. Independent of ImGui.
// Threads: values and pure functions.
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
  std::uint64_t mapped = 0;  // mapped device memory including slabs; 0: unknown
};

struct PoolRow {
  trace::PoolState state;
  std::string name;                // see Document::pool_name()
  std::string device;              // device name
  std::string holders;             // names of graphs
  std::string former_holders;      // former holders
  std::string sharers;             // names of graphs whose transients share one slab
  std::string former_sharers;      // former sharers
  std::vector<PoolPoint> history;  // sorted by time
  // Maxima over time. peak_bytes: device and host bytes, or mapped and host bytes if larger.
  std::uint64_t peak_device = 0, peak_host = 0, peak_bytes = 0;
  std::uint32_t peak_buffers = 0;
  // True if the trace records mapped memory and budget of the pool.
  [[nodiscard]] bool has_residency() const noexcept { return state.peak != 0; }
};

// Memory totals of one device.
struct DeviceRow {
  trace::DeviceTotals totals;
  std::string name;
  std::vector<PoolPoint> history;  // sorted by time; device_bytes: all buffers
  std::uint64_t peak_buffers = 0;  // maximum bytes of buffers
};

struct BufferRow {
  std::string name, pool;
  trace::BufferKind kind = trace::BufferKind::Device;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;             // transient: offset in the slab; 0: unknown
  trace::Time allocated = 0, freed = 0;  // 0: unknown; 0: alive
  std::uint32_t buffer = trace::kNone;   // index in the graph; kNone: not used by the graph
  std::uint32_t uses = 0;                // accesses in the graph
  std::string other_graphs;              // names
};

struct PoolViewModel {
  std::shared_ptr<const model::Graph> graph;  // may be null
  std::vector<PoolRow> pools;                 // sorted by id
  std::vector<DeviceRow> devices;             // by id, if the trace has totals
  std::vector<BufferRow> buffers;
  trace::Time first = 0, last = 0;  // of the document
  std::uint64_t peak_bytes = 0;     // maximum over pools and devices, including slabs
};

[[nodiscard]] PoolViewModel pool_view_model(const model::Document& document,
                                            std::shared_ptr<const model::Graph> graph);

enum class BufferColumn : std::uint8_t { Name, Kind, Bytes, Address, Pool, Allocated, Freed, Uses };
struct BufferOrder {
  BufferColumn by = BufferColumn::Bytes;
  bool is_descending = true;
  friend bool operator==(const BufferOrder&, const BufferOrder&) = default;
};
// Sorted indices in `view_model.buffers`. With `matches` (per buffer of the graph), only matching
// buffers of the graph.
[[nodiscard]] std::vector<std::uint32_t> ordered_buffers(const PoolViewModel& view_model,
                                                         BufferOrder order,
                                                         const std::vector<std::uint8_t>& matches);

}  // namespace reprise::viewer
