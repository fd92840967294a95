// REPRISE_ABI: the inline namespace of all public names. It changes with the binary interface, so
// that one process can load two versions of the libraries. REPRISE_API: symbols that the shared
// libraries export. Forward declarations of public types: <reprise/fwd.hpp>. Threads: no state.
#pragma once

#define REPRISE_ABI v0_1
#define REPRISE_API [[gnu::visibility("default")]]
