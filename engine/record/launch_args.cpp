#include <reprise/launch_args.hpp>

#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace reprise::inline REPRISE_ABI {

struct LaunchArgs::Storage {
  std::vector<detail::Argument> arguments;  // point to elements of the deques, which stay
  std::deque<AccessedView> views;
  std::deque<std::vector<std::byte>> values;
  std::deque<std::pair<std::string, std::string_view>> slots;  // names, and views of them
  std::vector<std::shared_ptr<const void>> owners;
};

LaunchArgs::LaunchArgs() : storage_(std::make_unique<Storage>()) {}
LaunchArgs::~LaunchArgs() = default;

void LaunchArgs::push(AccessedView view) {
  Storage& to = *storage_;
  to.arguments.push_back(detail::make_argument(to.views.emplace_back(std::move(view))));
}

void LaunchArgs::push_owner(std::shared_ptr<const void> owner) {
  storage_->owners.push_back(std::move(owner));
}

void LaunchArgs::push_value(const detail::Argument& argument) {
  Storage& to = *storage_;
  if (argument.view != nullptr) {  // a Condition, or an access by block
    to.views.push_back({*argument.view, argument.access, argument.is_declared, argument.type});
    to.arguments.push_back(argument);
    to.arguments.back().view = &to.views.back().view;
    return;
  }
  detail::Argument kept = argument;
  if (argument.slot != nullptr) {
    auto& [name, view] = to.slots.emplace_back(*argument.slot, std::string_view());
    kept.slot = &(view = name);
  }
  std::vector<std::byte>& bytes = to.values.emplace_back(argument.size);
  if (argument.size != 0) std::memcpy(bytes.data(), argument.value, argument.size);
  kept.value = bytes.data();
  to.arguments.push_back(kept);
}

std::span<const detail::Argument> LaunchArgs::arguments() const noexcept {
  return storage_->arguments;
}
std::span<const std::shared_ptr<const void>> LaunchArgs::owners() const noexcept {
  return storage_->owners;
}

}  // namespace reprise::inline REPRISE_ABI
