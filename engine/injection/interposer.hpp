// The interface between the interposer, which takes the program's bindings to calls of the driver
// (interposer.cpp), and the library that observes the program: both are in one process, but neither
// links the other. Threads: see the functions.
#pragma once

#include <cupti.h>

namespace reprise::detail {

// Called on the program's threads before each call (`result` null) and after it. `call` and
// `parameters` are those of CUPTI's callbacks for the driver's calls.
using CallHook = void (*)(void* self, CUpti_CallbackId call, const void* parameters,
                          const CUresult* result);

// Calls that begin afterwards lead to `hook`, whose `self` is never destroyed.
using SetCallHook = void (*)(CallHook hook, void* self);

// The variable that names the observing library.
inline constexpr char kRunLibrary[] = "REPRISE_RUN_LIBRARY";

// The name under which cuGetProcAddress() finds SetCallHook in a program with the interposer.
inline constexpr char kSetCallHook[] = "reprise_set_call_hook";

}  // namespace reprise::detail
