#include "runtime/core/instance_core.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/shown_text.hpp"
#include "base/text.hpp"
#include "profile/host_span.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

namespace {

// Empty where the variable is unset or empty.
std::string environment(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Validation validation_from_environment(Validation wanted) {
  const std::string value = environment("REPRISE_VALIDATION");
  if (value.empty()) return wanted;
  if (value == "off") return Validation::Off;
  if (value == "basic") return Validation::Basic;
  if (value == "full") return Validation::Full;
  fail(ErrorCode::InvalidArgument, Stage::Open, "",
       concat("REPRISE_VALIDATION is \"", value, "\"; use off, basic or full"));
}

bool block_relations_from_environment() {
  const std::string value = environment("REPRISE_BLOCK_RELATIONS");
  if (value.empty() || value == "on") return true;
  if (value == "off") return false;
  fail(ErrorCode::InvalidArgument, Stage::Open, "",
       concat("REPRISE_BLOCK_RELATIONS is \"", value, "\"; use on or off"));
}

bool names_a_gpu(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda:";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

}  // namespace

std::vector<BackendProvider*> all_providers() {
#if REPRISE_HAS_CUDA
  return {&cuda_provider(), &host_provider()};
#else
  return {&host_provider()};
#endif
}

namespace {

// The core for handles; devices hold the core itself. Dropped objects are destroyed on a thread of
// their device. The last handle does not leave them to it, so that a trace is complete then.
std::shared_ptr<InstanceCore> core_for_handles(const InstanceDesc& desc,
                                               std::vector<BackendProvider*> providers) {
  auto core = std::make_shared<InstanceCore>(desc, std::move(providers));
  if (!core->trace()) return core;
  InstanceCore* const pointer = core.get();
  return {pointer, [core = std::move(core)](InstanceCore*) { core->collect_completed(); }};
}

}  // namespace

Instance make_instance(const InstanceDesc& desc, std::vector<BackendProvider*> providers) {
  return make_handle<Instance>(core_for_handles(desc, std::move(providers)));
}

InstanceCore::InstanceCore(const InstanceDesc& desc, std::vector<BackendProvider*> providers)
    : application_(desc.application),
      validation_(validation_from_environment(desc.validation)),
      has_block_relations_(block_relations_from_environment()),
      cuda_graphs_(desc.cuda_graphs),
      on_message_(desc.on_message),
      suppressed_(desc.suppress.begin(), desc.suppress.end()),
      providers_(std::move(providers)) {
  require_enumerator("InstanceDesc::validation", desc.validation, Stage::Open);
  require_enumerator("InstanceDesc::cuda_graphs", desc.cuda_graphs, Stage::Open);
  require_enumerator("InstanceDesc::remote_profile", desc.remote_profile, Stage::Open);
  if (desc.trace.profile)
    require_enumerator("TraceDesc::profile", *desc.trace.profile, Stage::Open);
  const std::optional<TraceOptions> options = trace_options(desc.trace, desc.remote_profile);
  if (!options) return;
  profile_ = std::make_shared<ProfileSwitch>(options->profile);
  trace_ = TraceSession::open(*options, application_);
}

std::vector<InstanceCore::Found> InstanceCore::find_devices() const {
  std::vector<Found> found;
  for (BackendProvider* provider : providers_) {
    std::uint32_t index = 0;
    for (DeviceInfo& info : provider->devices())
      found.push_back({provider, index++, std::move(info)});
  }
  return found;
}

std::vector<DeviceInfo> InstanceCore::devices() const {
  std::vector<DeviceInfo> infos;
  for (Found& found : find_devices()) infos.push_back(std::move(found.info));
  return infos;
}

std::string InstanceCore::gpu_unavailable_reason() const {
  for (const Found& found : find_devices()) {
    if (found.info.kind != DeviceKind::Host) return "";
  }
  std::string why;
  for (BackendProvider* provider : providers_) {
    if (!provider->devices().empty()) continue;
    if (!why.empty()) why += "; ";
    why += provider->unavailable_reason();
  }
  return why.empty() ? "built without CUDA" : why;
}

std::shared_ptr<DeviceCore> InstanceCore::open(const DeviceSelector& selector) {
  std::string name = selector.name();
  std::string origin;  // prefix for errors when the environment chose the name
  if (selector.environment_wins()) {
    if (std::string value = environment("REPRISE_DEVICE"); !value.empty()) {
      name = std::move(value);
      origin = "REPRISE_DEVICE: ";
    }
  }

  const std::vector<Found> all = find_devices();
  const Found* chosen = nullptr;
  for (const Found& found : all) {
    if (name == "best" ? found.info.kind != DeviceKind::Host : found.info.selector == name) {
      chosen = &found;
      break;
    }
  }
  if (chosen == nullptr && name == "best" && !all.empty()) chosen = &all.front();
  if (chosen != nullptr) {
    auto device =
        DeviceCore::open(shared_from_this(), *chosen->provider, chosen->index, chosen->info);
    const std::lock_guard lock(devices_mutex_);
    std::erase_if(devices_, [](const auto& one) { return one.expired(); });
    devices_.push_back(device);
    return device;
  }

  if (names_a_gpu(name)) {
    for (BackendProvider* provider : providers_) {
      if (provider->devices().empty()) provider->require_driver();
    }
  }
  std::string available;
  for (const Found& found : all)
    available +=
        concat(available.empty() ? "" : ", ", found.info.selector, " (", found.info.name, ")");
  if (available.empty()) available = "none";
  if (!origin.empty() && name != "host" && name != "best" && !names_a_gpu(name)) {
    fail(ErrorCode::InvalidArgument, Stage::Open, name,
         concat("REPRISE_DEVICE is \"", name,
                "\"; use best, host or cuda:N; the devices are: ", available));
  }
  const std::string why = names_a_gpu(name) ? gpu_unavailable_reason() : "";
  fail(ErrorCode::UnknownDevice, Stage::Open, name,
       concat(origin, "no device is named \"", name, "\"; the devices are: ", available,
              why.empty() ? "" : "; ", why));
}

void InstanceCore::collect_completed() noexcept {
  for (std::size_t i = 0;; ++i) {
    std::shared_ptr<DeviceCore> device;
    {
      const std::lock_guard lock(devices_mutex_);
      if (i >= devices_.size()) return;
      device = devices_[i].lock();
    }
    if (device) device->deferred().collect_completed();
  }
}

bool InstanceCore::suppresses(const Message& message) const {
  return message.severity != Severity::Error && !suppressed_.empty() &&
         suppressed_.contains(std::string(message.id));
}

void InstanceCore::report(const Message& message) const {
  if (on_message_) {
    on_message_(message);
    return;
  }
  if (message.severity == Severity::Info) return;
  print_message({to_string(message.severity), ": ", message.text, " [", message.id, "]"});
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

Instance::Instance(const InstanceDesc& desc)
    : Instance(detail::make_instance(desc, detail::all_providers())) {}

namespace {

detail::InstanceCore& checked(const std::shared_ptr<detail::InstanceCore>& core,
                              std::string_view call) {
  return detail::require_handle(core, "Instance", call, Stage::Open);
}

}  // namespace

std::vector<DeviceInfo> Instance::devices() const { return checked(core_, "devices").devices(); }
std::string Instance::gpu_unavailable_reason() const {
  return checked(core_, "gpu_unavailable_reason").gpu_unavailable_reason();
}
Device Instance::open_device(const DeviceSelector& selector) const {
  detail::InstanceCore& core = checked(core_, "open_device");
  detail::require_outside_callback("Instance", "open_device", Stage::Open, selector.name());
  return detail::make_handle<Device>(core.open(selector));
}
std::string_view Instance::application() const noexcept {
  return core_ ? core_->application() : std::string_view();
}
void Instance::set_profile(ProfileMode mode) {
  const auto& profile = checked(core_, "set_profile").profile();
  detail::require_enumerator("the profile mode", mode, Stage::Profile);
  if (profile) profile->set(mode);
}
void Instance::flush_trace() {
  const auto& trace = checked(core_, "flush_trace").trace();
  detail::require_outside_callback("Instance", "flush_trace", Stage::Profile, "");
  if (trace) trace->flush();
}

TraceRange::TraceRange() noexcept = default;
TraceRange::TraceRange(std::unique_ptr<detail::HostSpan> span) noexcept : span_(std::move(span)) {}
TraceRange::TraceRange(TraceRange&&) noexcept = default;
TraceRange& TraceRange::operator=(TraceRange&&) noexcept = default;
TraceRange::~TraceRange() = default;

TraceRange Instance::trace_range(std::string_view name) const {
  const auto& trace =
      detail::require_handle(core_, "Instance", "trace_range", Stage::Profile).trace();
  return trace ? detail::make_handle<TraceRange>(std::make_unique<detail::HostSpan>(trace, name))
               : TraceRange();
}

}  // namespace reprise::inline REPRISE_ABI
