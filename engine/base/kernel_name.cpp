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

constexpr std::string_view kAnonymousNamespace = "(anonymous namespace)::";
constexpr std::size_t kMaxLength = 60;

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
  for (std::size_t at = text.find(kAnonymousNamespace); at != std::string::npos;
       at = text.find(kAnonymousNamespace))
    text.erase(at, kAnonymousNamespace.size());
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
  if (result.size() > kMaxLength) result = result.substr(0, kMaxLength - 3) + "...";
  return result;
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
