// Detects the sanitizer of this build.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define REPRISE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REPRISE_ADDRESS_SANITIZER
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define REPRISE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REPRISE_THREAD_SANITIZER
#endif
#endif

#ifdef REPRISE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef REPRISE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
