#include <memory>

#include <reprise/instance.hpp>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"

namespace reprise::cli {

namespace {

const char* kind_name(DeviceKind kind) { return kind == DeviceKind::Host ? "host" : "cuda"; }

std::string version(std::uint32_t major, std::uint32_t minor) {
  return major == 0 && minor == 0 ? "" : std::to_string(major) + "." + std::to_string(minor);
}

// CUDA encodes 13.0 as 13000.
std::string driver(std::uint32_t number) { return version(number / 1'000, number % 1'000 / 10); }

std::string uuid_text(const DeviceInfo& device) {
  std::string text;
  for (const std::uint8_t byte : device.uuid) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

void print(const Instance& instance) {
  Table table(2, {"device", "name", "compute", "processors", "memory", "driver"});
  for (const DeviceInfo& d : instance.devices()) {
    table.add({d.selector, d.name, version(d.compute_major, d.compute_minor),
               with_separators(d.multiprocessors), bytes(d.memory_bytes),
               driver(d.driver_version)});
  }
  write_out("%s", table.text().c_str());
  if (const std::string why = instance.gpu_unavailable_reason(); !why.empty())
    write_out("no GPU: %s\n", why.c_str());
}

void print_json(const Instance& instance) {
  nlohmann::ordered_json json = {{"devices", nlohmann::ordered_json::array()},
                                 {"gpu_unavailable_reason", instance.gpu_unavailable_reason()}};
  for (const DeviceInfo& d : instance.devices()) {
    json["devices"].push_back({{"selector", d.selector},
                               {"name", d.name},
                               {"kind", kind_name(d.kind)},
                               {"uuid", uuid_text(d)},
                               {"compute", version(d.compute_major, d.compute_minor)},
                               {"multiprocessors", d.multiprocessors},
                               {"memory_bytes", d.memory_bytes},
                               {"driver", driver(d.driver_version)}});
  }
  write_out("%s", json_text(json).c_str());
}

}  // namespace

Command add_devices(CLI::App& program) {
  CLI::App* app = program.add_subcommand("devices", "List the devices that Reprise can use");
  auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "print JSON");
  app->footer(
      "Processors are multiprocessors of a GPU or threads of the host device.\n"
      "Examples:\n  reprise devices\n  reprise devices --json | jq -r '.devices[].selector'");
  return {app, [json] {
            const Instance instance({.application = "reprise"});
            if (*json) {
              print_json(instance);
            } else {
              print(instance);
            }
            return kDone;
          }};
}

}  // namespace reprise::cli
