#include "runtime/core/device_core.hpp"

#include <algorithm>
#include <utility>

#include "base/creator_process.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "profile/record_ranges.hpp"
#include "record/condition_core.hpp"
#include "runtime/core/instance_core.hpp"

namespace reprise::detail {

namespace {

// Appends `one` and erases expired entries, in amortised constant time.
template <class Weak>
void add_weak(std::vector<Weak>& list, Weak one) {
  if (list.size() == list.capacity()) {
    std::erase_if(list, [](const Weak& weak) { return weak.expired(); });
    list.reserve(2 * list.size() + 8);
  }
  list.push_back(std::move(one));
}

template <class T>
std::vector<std::shared_ptr<T>> lock_all(const std::vector<std::weak_ptr<T>>& list) {
  std::vector<std::shared_ptr<T>> live;
  live.reserve(list.size());
  for (const auto& weak : list) {
    if (auto one = weak.lock()) live.push_back(std::move(one));
  }
  return live;
}

// Throws InvalidArgument unless the parameters lie one behind the other, within the device's limit.
void check_table(const KernelDesc& desc, std::uint32_t max_bytes) {
  const auto refuse = [&](const std::string& text) {
    fail(ErrorCode::InvalidArgument, Stage::Load, desc.name,
         concat("kernel ", desc.name, ": ", text,
                "; use the KernelDesc that reprise_add_shaders generates"));
  };
  if (desc.parameters.data() == nullptr && !desc.parameters.empty())
    refuse(concat(desc.parameters.size(), " parameters at a null address"));
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < desc.parameters.size(); ++i) {
    const KernelParameter& parameter = desc.parameters[i];
    if (parameter.offset < end || std::uint64_t{parameter.offset} + parameter.size > max_bytes) {
      refuse(concat("parameter ", i, " of ", parameter.size, " bytes at ", parameter.offset,
                    " overlaps the previous one or exceeds ", max_bytes, " bytes"));
    }
    end = std::uint64_t{parameter.offset} + parameter.size;
  }
}

}  // namespace

void require_named(std::string_view type, const char* name, const char* source) {
  const bool has_name = name != nullptr && *name != '\0';
  if (has_name && source != nullptr) return;
  fail(ErrorCode::InvalidArgument, Stage::Load, has_name ? name : "",
       concat("a ", type, has_name ? " has a null source" : " has no name",
              "; use one that reprise_add_shaders generates"));
}

std::shared_ptr<DeviceCore> DeviceCore::open(std::shared_ptr<InstanceCore> instance,
                                             BackendProvider& provider, std::uint32_t index,
                                             const DeviceInfo& info) {
  auto status = std::make_shared<DeviceStatus>();
  status->selector = info.selector;
  status->kind = info.kind;
  auto backend = provider.open(index, status);
  return make_thread_owner<DeviceCore>(std::move(instance), std::move(status), std::move(backend));
}

DeviceCore::DeviceCore(std::shared_ptr<InstanceCore> instance, std::shared_ptr<DeviceStatus> status,
                       std::unique_ptr<Backend> backend)
    : instance_(std::move(instance)),
      status_(std::move(status)),
      backend_(std::move(backend)),
      memory_(status_->selector, std::nullopt) {
  if (!instance_->trace()) return;
  trace_ =
      std::make_unique<DeviceTrace>(instance_->trace(), instance_->profile(), backend_->info());
  memory_.set_observer([this] { trace_->record_memory([this] { return memory_.statistics(); }); });
}

Instrumentation DeviceCore::instrumentation() const noexcept {
  if (trace_ == nullptr) return Instrumentation::None;
  switch (instance_->cuda_graphs()) {
    case CudaGraphs::Foreign: return Instrumentation::Timestamps;
    case CudaGraphs::Exclusive: break;
  }
  return Instrumentation::Cupti;
}

void DeviceCore::require_open(Stage stage) const {
  if (!status_->shut_down.load(std::memory_order_acquire)) return;
  fail(ErrorCode::StaleHandle, stage, status_->selector,
       concat("device ", status_->selector,
              " was shut down; open it again with Instance::open_device"));
}

void DeviceCore::require_usable(Stage stage) const {
  require_open(stage);
  if (!status_->lost.load(std::memory_order_acquire)) return;
  fail(ErrorCode::DeviceLost, stage, status_->selector,
       concat("device ", status_->selector, " is lost; call Device::rebuild"));
}

BufferId DeviceCore::add_buffer(const std::shared_ptr<PoolBuffer>& buffer) {
  std::lock_guard lock(registry_);
  return buffers_.insert(buffer);
}

void DeviceCore::remove_buffer(BufferId id) noexcept {
  std::lock_guard lock(registry_);
  buffers_.erase(id);
}

std::vector<std::shared_ptr<PoolBuffer>> DeviceCore::live_buffers() {
  std::vector<std::shared_ptr<PoolBuffer>> live;
  std::lock_guard lock(registry_);
  live.reserve(buffers_.size());
  buffers_.for_each([&](const std::weak_ptr<PoolBuffer>& buffer) {
    if (auto held = buffer.lock()) live.push_back(std::move(held));
  });
  return live;
}

void DeviceCore::add_queue(const std::shared_ptr<DeviceQueue>& queue) {
  std::lock_guard lock(registry_);
  add_weak(queues_, std::weak_ptr(queue));
}

std::shared_ptr<CommandBufferCore> DeviceCore::make_commands(const CommandBufferDesc& desc) {
  KernelLoader loader = [device = weak_from_this(),
                         selector = status_->selector](const KernelDesc& kernel) {
    const std::shared_ptr<DeviceCore> core = device.lock();
    if (core == nullptr)
      fail(ErrorCode::InvalidState, Stage::Load, kernel.name,
           concat("no kernel can be loaded on device ", selector,
                  ", which is closed; keep its Device while ops are added"));
    core->require_usable(Stage::Load);
    auto loaded = core->find_kernel(kernel);
    return make_handle<Kernel>(loaded != nullptr ? std::move(loaded) : core->load_kernel(kernel));
  };
  auto commands =
      make_command_buffer(status_, desc, std::move(loader),
                          RecordRanges::make(trace_ ? trace_->session() : nullptr, desc.label));
  std::lock_guard lock(registry_);
  add_weak(commands_, std::weak_ptr(commands));
  return commands;
}

std::vector<std::shared_ptr<CommandBufferCore>> DeviceCore::live_commands() {
  std::lock_guard lock(registry_);
  return lock_all(commands_);
}

std::shared_ptr<const KernelCore> DeviceCore::load_kernel(const KernelDesc& desc) {
  struct Held {
    std::shared_ptr<DeviceCore> device;  // destroyed after the kernel
    KernelCore kernel;
  };
  auto held = std::make_shared<Held>(Held{shared_from_this(), backend_->load_kernel(desc)});
  held->kernel.device = status_;
  held->kernel.generation = generation();
  std::shared_ptr<const KernelCore> kernel(held, &held->kernel);
  std::lock_guard lock(registry_);
  add_weak(kernels_, KernelEntry{kernel, desc});
  return kernel;
}

std::shared_ptr<const KernelCore> DeviceCore::find_kernel(const KernelDesc& desc) {
  std::lock_guard lock(registry_);
  for (const KernelEntry& entry : kernels_) {
    if (entry.desc.image != desc.image || entry.desc.host != desc.host ||
        std::string_view(entry.desc.name) != desc.name)
      continue;
    if (auto kernel = entry.kernel.lock(); kernel != nullptr && !kernel->is_stale()) return kernel;
  }
  return nullptr;
}

std::vector<LoadedKernel> DeviceCore::live_kernels() {
  std::vector<LoadedKernel> live;
  std::lock_guard lock(registry_);
  for (const KernelEntry& entry : kernels_) {
    if (auto kernel = entry.kernel.lock()) live.push_back({std::move(kernel), entry.desc});
  }
  return live;
}

void DeviceCore::wait_for_queues() {
  std::vector<std::shared_ptr<DeviceQueue>> queues;
  {
    std::lock_guard lock(registry_);
    queues = lock_all(queues_);
  }
  for (const auto& queue : queues) queue->wait_idle_if_current();
}

void DeviceCore::wait_idle() {
  wait_for_queues();
  require_usable(Stage::Wait);
  deferred_.flush();
}

void DeviceCore::report_unseen_errors() {
  if (!CallbackErrors::any_unseen()) return;
  std::vector<Message> messages;
  {
    std::lock_guard lock(order_);
    for (DeviceGraph* const graph : graphs_) {
      if (auto message = graph->take_unseen_errors()) messages.push_back(std::move(*message));
    }
  }
  for (const Message& message : messages) instance_->report(message);
}

void DeviceCore::shut_down() {
  if (status_->shut_down.exchange(true)) return;
  wait_for_queues();
  deferred_.flush();
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

namespace {

detail::DeviceCore& checked(const std::shared_ptr<detail::DeviceCore>& core,
                            std::string_view call) {
  return detail::require_handle(core, "Device", call, Stage::Open);
}

// As checked(); throws InvalidState in a host callback.
detail::DeviceCore& checked_outside_callback(const std::shared_ptr<detail::DeviceCore>& core,
                                             std::string_view call, Stage stage) {
  detail::DeviceCore& device = checked(core, call);
  detail::require_outside_callback("Device", call, stage, device.status()->selector);
  return device;
}

}  // namespace

const DeviceInfo& Device::info() const { return checked(core_, "info").info(); }

Kernel Device::load_kernel(const KernelDesc& desc) const {
  detail::DeviceCore& core = checked_outside_callback(core_, "load_kernel", Stage::Load);
  core.require_usable(Stage::Load);
  detail::require_named("KernelDesc", desc.name, desc.source);
  detail::check_table(desc, core.info().limits.max_parameter_bytes);
  return detail::make_handle<Kernel>(core.load_kernel(desc));
}

CommandBuffer Device::create_command_buffer(const CommandBufferDesc& desc) const {
  detail::DeviceCore& core = checked(core_, "create_command_buffer");
  core.require_usable(Stage::Record);
  detail::require_enumerator("CommandBufferDesc::ordering", desc.ordering, Stage::Record,
                             desc.label);
  detail::require_enumerator("CommandBufferDesc::level", desc.level, Stage::Record, desc.label);
  return detail::make_handle<CommandBuffer>(core.make_commands(desc));
}

Condition Device::create_condition(const ConditionDesc& desc) const {
  detail::DeviceCore& core = checked(core_, "create_condition");
  core.require_usable(Stage::Record);
  return detail::make_condition(core.status(), desc);
}

CompileCacheReport Device::compile_cache() const {
  return checked(core_, "compile_cache").plans().report();
}
void Device::set_compile_cache_budget(std::uint64_t bytes) {
  checked(core_, "set_compile_cache_budget").plans().set_budget(bytes);
}
MemoryStatistics Device::statistics() const {
  return checked(core_, "statistics").memory().statistics();
}
void Device::set_memory_budget(std::optional<std::uint64_t> bytes) {
  checked(core_, "set_memory_budget").memory().set_budget(bytes);
}

void Device::wait_idle() const {
  checked_outside_callback(core_, "wait_idle", Stage::Wait).wait_idle();
}
std::uint32_t Device::generation() const { return checked(core_, "generation").generation(); }
DeviceState Device::state() const {
  return detail::make_handle<DeviceState>(checked(core_, "state").status());
}
void Device::shut_down() { checked_outside_callback(core_, "shut_down", Stage::Wait).shut_down(); }
bool Device::is_lost() const {
  return checked(core_, "is_lost").status()->lost.load(std::memory_order_acquire);
}

void Device::simulate_loss() {
  detail::DeviceCore& core = checked(core_, "simulate_loss");
  core.require_open(Stage::Open);
  core.backend().simulate_loss();
  core.status()->mark_lost();
}

}  // namespace reprise::inline REPRISE_ABI
