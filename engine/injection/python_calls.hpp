// PythonCalls: the calls of CPython, 3.9 to 3.14, that read stacks. They are those of the process
// itself: this library links no Python, and knows no layout of its objects. Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace reprise::detail {

struct PythonCalls {
  using Object = void*;  // a reference to an object of Python
  using State = void*;   // of a thread or an interpreter
  struct Loaded {
    const PythonCalls* calls = nullptr;
    std::string why_not = {};  // empty: the process has no Python
  };
  // The calls of this process, never unloaded. The first call takes the dynamic linker's lock.
  [[nodiscard]] static const Loaded& of_process();

  // Any thread calls these at any time.
  int (*Py_IsInitialized)() = nullptr;
  int (*Py_IsFinalizing)() = nullptr;  // or _Py_IsFinalizing, before 3.13
  // Before 3.12 the state of the thread that holds the GIL, since then that of this thread if it
  // holds its interpreter's; it is PyThreadState_GetUnchecked, or its private form before 3.13.
  State (*PyThreadState_GetUnchecked)() = nullptr;
  State (*PyGILState_GetThisThreadState)() = nullptr;
  State (*PyThreadState_GetInterpreter)(State thread) = nullptr;
  State (*PyInterpreterState_Main)() = nullptr;
  // Waits for the GIL without limit. In an interpreter that is finalised, it does not return.
  int (*PyGILState_Ensure)() = nullptr;

  // The caller of these holds the GIL.
  void (*PyGILState_Release)(int) = nullptr;
  State (*PyEval_SaveThread)() = nullptr;
  Object (*PyThreadState_GetFrame)(State thread) = nullptr;
  Object (*PyFrame_GetBack)(Object frame) = nullptr;
  Object (*PyFrame_GetCode)(Object frame) = nullptr;
  int (*PyFrame_GetLineNumber)(Object frame) = nullptr;
  Object (*PyObject_GetAttrString)(Object object, const char* name) = nullptr;
  const char* (*PyUnicode_AsUTF8AndSize)(Object text, std::ptrdiff_t* size) = nullptr;
  void (*PyErr_Fetch)(Object* type, Object* value, Object* traceback) = nullptr;
  void (*PyErr_Restore)(Object type, Object value, Object traceback) = nullptr;
  Object (*PyWeakref_NewRef)(Object object, Object callback) = nullptr;
  void (*Py_IncRef)(Object object) = nullptr;
  void (*Py_DecRef)(Object object) = nullptr;
  // Null before 3.10.
  int (*PyGC_Disable)() = nullptr;
  int (*PyGC_Enable)() = nullptr;
  // Null before 3.11.
  int (*PyFrame_GetLasti)(Object frame) = nullptr;
  // The first is null before 3.13, the second maybe after.
  int (*PyWeakref_GetRef)(Object reference, Object* object) = nullptr;
  Object (*PyWeakref_GetObject)(Object reference) = nullptr;

  // The state of this thread if it holds the GIL, otherwise null.
  [[nodiscard]] State holder() const;

 private:
  [[nodiscard]] std::string load();

  bool is_current_of_thread_ = false;
};

}  // namespace reprise::detail
