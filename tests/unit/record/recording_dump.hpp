// dump: a recording as text with every field: equal texts mean equal recordings. Arena payloads
// appear as bytes, borrowed memory as an address. Threads: pure functions.
#pragma once

#include <sstream>
#include <string>

#include "record/geometry.hpp"
#include "record/recording.hpp"

namespace reprise::test {

class RecordingDump {
 public:
  explicit RecordingDump(const detail::Recording& recording) : r_(recording) {}

  [[nodiscard]] std::string text() {
    using namespace detail;
    out_ << r_.label << ' ' << int(r_.ordering) << ' ' << int(r_.level) << '\n';
    for (const auto& buffer : r_.buffers) out_ << "buffer " << buffer->name << '\n';
    for (const auto& kernel : r_.kernels) out_ << "kernel " << kernel->name << '\n';
    for (const auto& label : r_.labels)
      out_ << "label " << label.parent << ' ' << label.name << ' ' << int(label.color.r) << '\n';
    for (const auto& edge : r_.edges) out_ << "edge " << edge.before << ' ' << edge.after << '\n';
    for (std::uint32_t i = 0; i < r_.commands.size(); ++i) command(i);
    return out_.str();
  }

 private:
  void bytes(const void* data, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      out_ << int(static_cast<const unsigned char*>(data)[i]) << ',';
  }
  void rows(const Extent& e, const Pitch& p) {
    out_ << " [" << e.width << ' ' << e.height << ' ' << e.depth << " / " << p.row << ' ' << p.slice
         << ']';
  }
  void endpoint(const detail::Endpoint& side, const Extent& extent, const Pitch& pitch) {
    if (side.buffer != detail::kNone) {
      out_ << " buffer " << side.buffer << '+' << side.offset;
    } else if (side.lifetime == HostBytes::Lifetime::Borrowed) {
      out_ << " borrowed " << side.host;
    } else {
      out_ << " snapshot ";
      bytes(side.host, *detail::span_bytes(extent, pitch));
    }
    rows(extent, pitch);
  }

  void body(const detail::Body& body) {
    out_ << " body " << body.index << " buffers";
    for (std::uint32_t b = 0; b < body.buffer_count; ++b) out_ << ' ' << body.buffers[b];
    out_ << " {\n" << RecordingDump(*r_.bodies[body.index]).text() << '}';
  }

  void command(std::uint32_t i) {
    using namespace detail;
    const Command& c = r_.commands[i];
    out_ << r_.command_name(i) << " in " << r_.label_path(c.label) << " line " << c.where.line
         << ':';
    switch (c.kind) {
      case CommandKind::Dispatch: {
        const auto& p = r_.payload<DispatchPayload>(i);
        out_ << " kernel " << p.kernel << " grid " << p.grid.x << ' ' << p.grid.y << ' ' << p.grid.z
             << " block " << p.block.x << ' ' << p.block.y << ' ' << p.block.z << " cluster "
             << p.cluster.value_or(Dim3(0, 0, 0)).x << " shared " << p.shared_bytes << " launch "
             << int(p.launch) << " parameters ";
        bytes(p.parameters, p.parameter_bytes);
        for (std::uint32_t a = 0; a < p.buffer_argument_count; ++a) {
          const BufferArgument& arg = p.buffer_arguments[a];
          out_ << " @" << arg.parameter_offset << '=' << arg.buffer << '+' << arg.offset;
        }
        break;
      }
      case CommandKind::Copy: {
        const auto& p = r_.payload<CopyPayload>(i);
        endpoint(p.source, p.extent, p.source_pitch);
        endpoint(p.destination, p.extent, p.destination_pitch);
        break;
      }
      case CommandKind::Fill: {
        const auto& p = r_.payload<FillPayload>(i);
        out_ << " buffer " << p.buffer << '+' << p.offset << " bits " << p.bits << " element "
             << p.element_bytes;
        rows(p.extent, p.pitch);
        break;
      }
      case CommandKind::Update: {
        const auto& p = r_.payload<UpdatePayload>(i);
        out_ << " buffer " << p.buffer << '+' << p.offset << ' ';
        bytes(p.data, p.bytes);
        break;
      }
      case CommandKind::Host: out_ << " function " << r_.payload<HostPayload>(i).function; break;
      case CommandKind::Op: {
        const auto& p = r_.payload<OpPayload>(i);
        out_ << " op " << p.op << ' ' << r_.ops[p.op]->parameters;
        for (std::uint32_t b = 0; b < p.buffer_count; ++b) out_ << " buffer " << p.buffers[b];
        break;
      }
      case CommandKind::Nested: body(r_.payload<NestedPayload>(i).body); break;
      case CommandKind::Conditional: {
        const auto& p = r_.payload<ConditionalPayload>(i);
        out_ << ' ' << to_string(p.branch) << ' ' << p.condition << " at most " << p.max_iterations;
        for (std::uint32_t b = 0; b < p.body_count; ++b) body(p.bodies[b]);
        break;
      }
      case CommandKind::Barrier: {
        const auto& p = r_.payload<BarrierPayload>(i);
        out_ << " buffer " << int(p.buffer) << " [" << p.begin << ' ' << p.end << ") "
             << int(p.before) << ' ' << int(p.after);
        break;
      }
    }
    for (std::uint32_t a = 0; a < c.access_count; ++a) {
      const BufferAccess& access = r_.accesses[c.first_access + a];
      out_ << " | " << int(access.access) << " buffer " << access.buffer << " [" << access.begin
           << ' ' << access.end << ')';
      if (access.shape != 0)
        rows(r_.shapes[access.shape - 1].extent, r_.shapes[access.shape - 1].pitch);
    }
    out_ << '\n';
  }

  const detail::Recording& r_;
  std::ostringstream out_;
};

inline std::string dump(const detail::Recording& recording) {
  return RecordingDump(recording).text();
}

}  // namespace reprise::test
