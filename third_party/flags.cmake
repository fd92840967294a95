# Compiler flags of this project's own code. Programs that link the engine do not get them.

add_library(reprise_flags INTERFACE)
target_compile_features(reprise_flags INTERFACE cxx_std_20)
target_compile_options(reprise_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror
  # The host device and the GPU must round alike: code that needs an fma calls it explicitly.
  -ffp-contract=off
  # GCC 12 and 13 warn of impossible overlaps in std::string's own code (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,14>>:-Wno-restrict>
  # GCC's warnings of uninitialized values depend on inlining: with -O1, in unity builds and with
  # sanitizers GCC warns of a std::optional that is always checked.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

if(NOT REPRISE_SANITIZE MATCHES "^(address|thread)?$")
  message(FATAL_ERROR "REPRISE_SANITIZE is '${REPRISE_SANITIZE}'; it must be address, thread or empty")
endif()

# Instrumentation must cover the whole process, so it is set for the whole tree.
if(REPRISE_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(REPRISE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(REPRISE_SANITIZE)
  # The compiler warns of every std::atomic_thread_fence, which ThreadSanitizer does not model.
  target_compile_options(reprise_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-error=tsan>)
endif()

# Unity builds (presets ci, asan and tsan) compile several files as one, so file-local names must be
# unique within a target, and a file-local class appears to be in a header. GPU code and the sources
# that protoc and flatc generate are compiled file by file.
if(CMAKE_UNITY_BUILD)
  target_compile_options(reprise_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# reprise_program(<target> [COMPONENT <names...>]): a program that can be moved together with ../lib
# and ../share. COMPONENT names the parts of `cmake --install` that include it; the default install
# has no programs.
function(reprise_program target)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "COMPONENT")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  # RPATH rather than RUNPATH, because it also applies to the dependencies of those libraries.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  foreach(component IN LISTS program_COMPONENT)
    install(TARGETS ${target} RUNTIME DESTINATION bin COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endfunction()
