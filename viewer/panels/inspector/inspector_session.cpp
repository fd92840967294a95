#include "panels/inspector/inspector_session.hpp"

#include <cstdio>
#include <ctime>

#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

std::string utc_text(trace::Time nanoseconds) {
  if (nanoseconds == 0) return {};
  const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  char text[32];
  return std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0 ? std::string()
                                                                                : text;
}

void draw_device(const PanelContext& context, const trace::Device& device) {
  const Theme& theme = context.theme;
  draw_value(theme, "Device", device.name.empty() ? device.selector : device.name,
             device.selector.c_str());
  if (device.memory_bytes != 0) draw_mono(theme, "Memory", bytes_text(device.memory_bytes));
  if (device.multiprocessors != 0)
    draw_mono(theme, "Multiprocessors", count_text(device.multiprocessors));
  for (std::size_t i = context.document->clocks.size(); i-- > 0;) {
    const trace::Clock& clock = context.document->clocks[i];
    if (clock.device != device.id) continue;
    draw_mono(theme, "Clock error", "up to " + duration_text(static_cast<double>(clock.error)),
              "Maximum error of device times relative to the host clock.");
    break;
  }
}

void draw_process(const Theme& theme, const trace::Session& session) {
  draw_value(theme, "Application", session.application);
  draw_mono(theme, "Command line", session.command_line);
  draw_value(theme, "Host", session.host);
  draw_mono(theme, "Process", session.pid == 0 ? "" : std::to_string(session.pid));
  if (session.rank != trace::kNone) {
    draw_mono(
        theme, "Rank",
        count_text(session.rank) + (session.ranks == 0 ? "" : " of " + count_text(session.ranks)));
  }
  draw_value(theme, "Job", session.job);
  draw_mono(theme, "Started", utc_text(session.process_start_utc));
  draw_mono(theme, "Engine", session.engine_version);
}

// How the times of the session were converted to the clock of another rank.
void draw_alignment(const PanelContext& context, const trace::ClockAlignment& a) {
  const Theme& theme = context.theme;
  if (a.session == a.reference) return draw_value(theme, "Clock", "reference of all ranks");
  const std::string by = a.exchanges == 0 && a.collectives == 0
                             ? "a clock that both share"
                             : count_text(a.exchanges) + " exchanges of clocks, " +
                                   count_text(a.collectives) + " collectives";
  draw_value(theme, "Clock aligned to", context.document->rank_name(a.reference));
  draw_value(theme, "Aligned by", by);
  draw_mono(theme, "Offset", duration_text(static_cast<double>(a.offset)),
            "The clock of the reference minus that of this rank.");
  char drift[32];
  std::snprintf(drift, sizeof drift, "%+.3f ppm", a.drift * 1e6);
  draw_mono(theme, "Drift", drift);
  draw_mono(theme, "Error of times",
            a.error >= trace::kUnknownError
                ? "unknown"
                : "up to " + duration_text(static_cast<double>(a.error)),
            "Maximum error of the converted host times of this rank.");
}

}  // namespace

void draw_session(const PanelContext& context) {
  const Theme& theme = context.theme;
  const model::Document& document = *context.document;
  if (!draw_section(theme, "Session", context.name.substr(context.name.find_last_of('/') + 1)))
    return;
  const bool has_ranks = document.has_ranks();
  const std::uint32_t shown = document.session_of(context.view.graph);
  for (std::uint32_t i = 0; i < document.sessions->size(); ++i) {
    if (has_ranks && i != shown) continue;
    ImGui::PushID(static_cast<int>(i));
    draw_process(theme, (*document.sessions)[i]);
    const auto alignment = document.alignments->find(i);
    if (alignment != document.alignments->end()) draw_alignment(context, alignment->second);
    ImGui::PopID();
  }
  for (const auto& [id, device] : *document.devices) {
    if (has_ranks && device.session != shown) continue;
    ImGui::PushID(static_cast<int>(id));
    draw_device(context, device);
    ImGui::PopID();
  }
  if (document.last > document.first)
    draw_mono(theme, "Duration", duration_text(static_cast<double>(document.last - document.first)),
              "From the first to the last event of the trace.");
}

}  // namespace reprise::viewer
