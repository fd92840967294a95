#include "base/kernel_name.hpp"

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace reprise::detail {
namespace {

// Offset of the trailing parameter list of a demangled name; name.size() if it has none.
std::size_t parameter_list_offset(std::string_view name) {
  std::size_t depth = 0;
  const std::size_t last = name.rfind(')');
  if (last == std::string_view::npos) return name.size();
  for (std::size_t i = last + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

// Offset of the name after its return type: behind the last space that is outside all brackets.
std::size_t name_offset(std::string_view text) {
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(') ++depth;
    if ((c == '>' || c == ')') && depth > 0) --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return begin;
}

// True for the characters of a qualified name.
bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '~';
}

// Erases `part` where `next` follows it.
void erase_all(std::string& text, std::string_view part, std::string_view next = {}) {
  const std::string wanted = std::string(part) + std::string(next);
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at))
    text.erase(at, part.size());
}

constexpr std::size_t kMaxLength = 60;
constexpr std::size_t kKeptEnd = 17;  // of a name that is too long: numbers tell kernels apart

// Kernels whose only purpose is to run their template argument.
constexpr std::string_view kWrappers[] = {"Kernel<", "Kernel2<", "device_kernel<", "enable_sm"};
// What Inductor puts before the list of the operations that it fused.
constexpr std::string_view kFused[] = {
    "triton_poi_fused_", "triton_red_fused_", "triton_per_fused_", "triton_tem_fused_",
    "triton_for_fused_", "triton_spl_fused_", "triton_mix_fused_"};
// Endings that state nothing about the kernel: of PyTorch's functions of elements, the pointers,
// and of cuBLAS and cuDNN, how the kernel is called.
constexpr std::string_view kArrayArguments[] = {", array<char*", ", Array<char*"};
constexpr std::string_view kCalling = "_execute_";

std::string without_wrapper(std::string name) {
  for (const std::string_view wrapper : kWrappers) {
    const std::size_t open = name.find('<');
    if (open != std::string::npos && name.starts_with(wrapper) && name.ends_with('>'))
      return without_wrapper(name.substr(open + 1, name.size() - open - 2));
  }
  return name;
}

// The name of a kernel of a library or a compiler without the parts that all its kernels share.
std::string without_boilerplate(std::string name) {
  name = without_wrapper(std::move(name));
  for (const std::string_view fused : kFused) {
    const std::size_t operations = name.find_first_not_of('_', fused.size());
    if (name.starts_with(fused) && operations != std::string::npos &&
        std::isdigit(static_cast<unsigned char>(name[operations])) == 0)
      return name.substr(operations);
  }
  for (const std::string_view arguments : kArrayArguments) {
    if (const std::size_t at = name.find(arguments); at != std::string::npos)
      name = name.substr(0, at) + ">";
  }
  if (const std::size_t at = name.find(kCalling); at != 0 && at != std::string::npos)
    name.resize(at);
  return name;
}

std::string truncated(std::string name) {
  if (name.size() <= kMaxLength) return name;
  // The end of template arguments says less than their beginning.
  const std::size_t end = name.find('<') == std::string::npos ? kKeptEnd : 0;
  return name.substr(0, kMaxLength - 3 - end) + "..." + name.substr(name.size() - end);
}

}  // namespace

std::string demangled(std::string_view name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled_name(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled_name == nullptr) return std::string(name);
  return demangled_name.get();
}

std::string readable_kernel_name(std::string_view name) {
  const std::string demangled_name = demangled(name);
  if (demangled_name == name) return demangled_name;
  std::string_view text = demangled_name;
  text = text.substr(0, parameter_list_offset(text));
  return std::string(text.substr(name_offset(text)));
}

std::string short_kernel_name(std::string_view name) {
  std::string text = readable_kernel_name(name);
  erase_all(text, "(anonymous namespace)::");
  // "gelu()::{lambda()#1}::operator()() const::{lambda(float)#1}": the lambdas of a function.
  erase_all(text, "::operator()");
  erase_all(text, " const", "::");
  std::string result;
  std::size_t depth = 0;  // nesting of parameter lists and lambda names, which are dropped
  for (const char c : text) {
    if (c == '{' && depth == 0 && result.ends_with("::")) result.resize(result.size() - 2);
    if (c == '(' || c == '{') ++depth;
    if (depth == 0) {
      if (result.size() >= 2 && result.ends_with("::") &&
          is_name_char(c)) {  // drop the qualifier of this name
        std::size_t begin = result.size() - 2;
        while (begin > 0 && is_name_char(result[begin - 1])) --begin;
        result.erase(begin);
      }
      result += c;
    }
    if ((c == ')' || c == '}') && depth > 0) --depth;
  }
  for (std::size_t at = result.find("> >"); at != std::string::npos; at = result.find("> >"))
    result.erase(at + 1, 1);
  if (result.empty()) result = std::move(text);
  return truncated(without_boilerplate(std::move(result)));
}

std::string_view nccl_operation(std::string_view name) {
  // ncclKernel_ before NCCL 2.18, ncclSymkDevKernel_ and similar for symmetric memory.
  constexpr std::string_view kMarker = "Kernel_";
  const std::size_t library = name.find("nccl"), at = name.find(kMarker, library);
  if (library == std::string_view::npos || at == std::string_view::npos) return {};
  if (name.substr(library, at - library).find_first_of(" <(:") != std::string_view::npos) return {};
  const std::string_view operation = name.substr(at + kMarker.size());
  return operation.substr(0, operation.find_first_of("_(<"));
}

}  // namespace reprise::detail
