#include "application/trace_export.hpp"

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "export/exporter.hpp"

namespace reprise::viewer {

std::optional<TraceExport> export_of(const std::string& file, const std::string& format,
                                     std::uint32_t graph) {
  using trace::ExportFormat;
  const auto of = trace::format_from(format);
  if (!of) return std::nullopt;
  const std::string ending = *of == ExportFormat::Perfetto ? "perfetto-trace"
                             : *of == ExportFormat::Sqlite ? "db"
                                                           : format;
  return TraceExport{
      .name = std::filesystem::path(file).stem().string() + "." + ending,
      .write = [format = *of, file, graph](const std::string& path) {
        // Replacing the trace would change the file under its reader.
        std::error_code ignored;
        if (std::filesystem::equivalent(file, path, ignored))
          throw std::runtime_error(path + " is the trace itself; choose another name");
        static_cast<void>(trace::export_trace(
            format, trace::TraceReader(file),
            {.output = path, .graph = format == ExportFormat::Dot ? std::to_string(graph) : ""}));
      }};
}

}  // namespace reprise::viewer
