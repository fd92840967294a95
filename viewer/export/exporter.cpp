#include "export/exporter.hpp"

namespace reprise::trace {

namespace {

constexpr ExportFormat kFormats[] = {ExportFormat::Perfetto, ExportFormat::Csv,
                                     ExportFormat::Sqlite, ExportFormat::Dot};

}  // namespace

const char* format_name(ExportFormat format) noexcept {
  switch (format) {
    case ExportFormat::Perfetto: return "perfetto";
    case ExportFormat::Csv: return "csv";
    case ExportFormat::Sqlite: return "sqlite";
    case ExportFormat::Dot: break;
  }
  return "dot";
}

std::optional<ExportFormat> format_from(const std::string& name) {
  for (const ExportFormat format : kFormats) {
    if (name == format_name(format)) return format;
  }
  return std::nullopt;
}

ExportReport export_trace(ExportFormat format, const TraceReader& reader, const ExportDesc& desc) {
  switch (format) {
    case ExportFormat::Perfetto: return export_perfetto(reader, desc);
    case ExportFormat::Csv: return export_csv(reader, desc);
    case ExportFormat::Sqlite: return export_sqlite(reader, desc);
    case ExportFormat::Dot: break;
  }
  return export_dot(reader, desc);
}

}  // namespace reprise::trace
