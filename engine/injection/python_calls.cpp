#include "injection/python_calls.hpp"

#include <dlfcn.h>

#include <charconv>
#include <initializer_list>
#include <string_view>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

template <class Call>
bool find(Call*& call, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    call = reinterpret_cast<Call*>(::dlsym(RTLD_DEFAULT, name));
    if (call != nullptr) return true;
  }
  return false;
}

// The second number of a version such as "3.11.7 (main, ...)"; 0: not Python 3.
int minor_version(std::string_view text) {
  int minor = 0;
  if (text.starts_with("3.")) std::from_chars(text.data() + 2, text.data() + text.size(), minor);
  return minor;
}

}  // namespace

// Empty: every call was found.
std::string PythonCalls::load() {
  const char* (*version)() = nullptr;
  if (!find(version, {"Py_GetVersion"})) return {};
  const std::string_view text = version();
  const int minor = minor_version(text);
  const std::string python = concat("Python ", text.substr(0, text.find(' ')));
  if (minor < 9) return concat(python, " is older than 3.9");
  if (text.find("free-threading") != std::string_view::npos)
    return concat(python, " is a build without the GIL, whose stacks are not read");
  is_current_of_thread_ = minor >= 12;
  const char* missing = nullptr;
  const auto need = [&](auto& call, std::initializer_list<const char*> names) {
    if (!find(call, names)) missing = *names.begin();
  };
#define REPRISE_NEED(name) need(name, {#name})
  REPRISE_NEED(Py_IsInitialized);
  need(Py_IsFinalizing, {"Py_IsFinalizing", "_Py_IsFinalizing"});
  need(PyThreadState_GetUnchecked, {"PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet"});
  REPRISE_NEED(PyGILState_GetThisThreadState);
  REPRISE_NEED(PyThreadState_GetInterpreter);
  REPRISE_NEED(PyInterpreterState_Main);
  REPRISE_NEED(PyGILState_Ensure);
  REPRISE_NEED(PyGILState_Release);
  REPRISE_NEED(PyEval_SaveThread);
  REPRISE_NEED(PyThreadState_GetFrame);
  REPRISE_NEED(PyFrame_GetBack);
  REPRISE_NEED(PyFrame_GetCode);
  REPRISE_NEED(PyFrame_GetLineNumber);
  REPRISE_NEED(PyObject_GetAttrString);
  REPRISE_NEED(PyUnicode_AsUTF8AndSize);
  REPRISE_NEED(PyErr_Fetch);
  REPRISE_NEED(PyErr_Restore);
  REPRISE_NEED(PyWeakref_NewRef);
  REPRISE_NEED(Py_IncRef);
  REPRISE_NEED(Py_DecRef);
#undef REPRISE_NEED
  if (!find(PyWeakref_GetRef, {"PyWeakref_GetRef"}))
    need(PyWeakref_GetObject, {"PyWeakref_GetObject"});
  if (minor >= 10) {
    need(PyGC_Disable, {"PyGC_Disable"});
    need(PyGC_Enable, {"PyGC_Enable"});
  }
  find(PyFrame_GetLasti, {"PyFrame_GetLasti"});
  return missing == nullptr ? std::string() : concat(python, " has no ", missing);
}

const PythonCalls::Loaded& PythonCalls::of_process() {
  static const Loaded* const loaded = [] {
    auto* const calls = new PythonCalls;
    auto* const made = new Loaded{nullptr, calls->load()};
    if (made->why_not.empty() && calls->Py_IsInitialized != nullptr) made->calls = calls;
    return made;
  }();
  return *loaded;
}

PythonCalls::State PythonCalls::holder() const {
  const State current = PyThreadState_GetUnchecked();
  return is_current_of_thread_ || current == PyGILState_GetThisThreadState() ? current : nullptr;
}

}  // namespace reprise::detail
