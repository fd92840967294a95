#include "base/kernel_name.hpp"

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace reprise::detail {
namespace {

// Where the list of parameters at the end of a demangled name begins; its length where there is
// none.
std::size_t parameters_of(std::string_view name) {
  std::size_t depth = 0;
  const std::size_t last = name.rfind(')');
  if (last == std::string_view::npos) return name.size();
  for (std::size_t i = last + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

// Where the name begins behind the type that it returns: after the last space outside of all
// brackets.
std::size_t name_of(std::string_view text) {
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(') ++depth;
    if ((c == '>' || c == ')') && depth > 0) --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return begin;
}

// Letters of a name, and what stands between the parts of a qualified one.
bool is_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '~';
}

constexpr std::string_view kNowhere = "(anonymous namespace)::";
constexpr std::size_t kLongest = 60;

}  // namespace

std::string demangled(std::string_view name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> words(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || words == nullptr) return std::string(name);
  return words.get();
}

std::string readable_kernel_name(std::string_view name) {
  const std::string words = demangled(name);
  if (words == name) return words;
  std::string_view text = words;
  text = text.substr(0, parameters_of(text));
  return std::string(text.substr(name_of(text)));
}

std::string short_kernel_name(std::string_view name) {
  std::string text = readable_kernel_name(name);
  for (std::size_t at = text.find(kNowhere); at != std::string::npos; at = text.find(kNowhere))
    text.erase(at, kNowhere.size());
  std::string result;
  std::size_t depth = 0;  // of lists of parameters and of lambdas' names, which go
  for (const char c : text) {
    if (c == '{' && depth == 0 && result.ends_with("::")) result.resize(result.size() - 2);
    if (c == '(' || c == '{') ++depth;
    if (depth == 0) {
      if (result.size() >= 2 && result.ends_with("::") &&
          is_of_a_name(c)) {  // what it qualifies begins: the qualifier goes
        std::size_t begin = result.size() - 2;
        while (begin > 0 && is_of_a_name(result[begin - 1])) --begin;
        result.erase(begin);
      }
      result += c;
    }
    if ((c == ')' || c == '}') && depth > 0) --depth;
  }
  for (std::size_t at = result.find("> >"); at != std::string::npos; at = result.find("> >"))
    result.erase(at + 1, 1);
  if (result.empty()) result = std::move(text);
  if (result.size() > kLongest) result = result.substr(0, kLongest - 3) + "...";
  return result;
}

}  // namespace reprise::detail
