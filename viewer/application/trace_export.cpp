#include "application/trace_export.hpp"

#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "export/exporter.hpp"

namespace reprise::viewer {

std::optional<TraceExport> export_of(std::shared_ptr<model::TraceFeed> feed,
                                     const std::string& name, const std::string& format,
                                     std::uint32_t graph) {
  using trace::ExportFormat;
  const auto of = trace::format_from(format);
  if (!of) return std::nullopt;
  const std::string ending = *of == ExportFormat::Perfetto ? "perfetto-trace"
                             : *of == ExportFormat::Sqlite ? "db"
                                                           : format;
  return TraceExport{
      .name = std::filesystem::path(name).stem().string() + "." + ending,
      .write = [feed = std::move(feed), format = *of, graph](const std::string& path) {
        const auto write = [&](const std::filesystem::path& trace) {
          static_cast<void>(trace::export_trace(
              format, trace::TraceReader(trace),
              {.output = path, .graph = format == ExportFormat::Dot ? std::to_string(graph) : ""}));
        };
        if (feed->is_live()) {
          const detail::AtomicFile received(path, {.sources = {detail::kOwnerOnly}});
          feed->save_to(received.temporary());
          return write(received.temporary());
        }
        // Replacing the trace would change the file under its reader.
        std::error_code ignored;
        if (std::filesystem::equivalent(feed->target(), path, ignored))
          throw std::runtime_error(path + " is the trace itself; choose another name");
        write(feed->target());
      }};
}

}  // namespace reprise::viewer
