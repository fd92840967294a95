# Compiler flags of this project's own code. They never reach a program that links the engine.

add_library(reprise_flags INTERFACE)
target_compile_features(reprise_flags INTERFACE cxx_std_20)
target_compile_options(reprise_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror
  # The host device and the GPU must round alike: an fma is written where it is wanted.
  -ffp-contract=off
  # GCC 12 and 13 warn of overlaps that cannot be in std::string's own code (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,14>>:-Wno-restrict>)

if(NOT REPRISE_SANITIZE MATCHES "^(address|thread)?$")
  message(FATAL_ERROR "REPRISE_SANITIZE is '${REPRISE_SANITIZE}'; it takes address, thread or nothing")
endif()

# Instrumentation has to cover everything in the process, so it is set for the whole tree.
if(REPRISE_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(REPRISE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(REPRISE_SANITIZE)
  # GCC's flow analysis does not see through the checks that it inserts itself. -Wtsan: the compiler
  # notes every std::atomic_thread_fence, which ThreadSanitizer does not model.
  target_compile_options(reprise_flags INTERFACE
    -Wno-maybe-uninitialized $<$<CXX_COMPILER_ID:GNU>:-Wno-error=tsan>)
endif()

# Several files as one (presets ci, asan and tsan): what a file keeps to itself has a name that its neighbours don't have. A class of a file is
# then in what looks like a header. GPU code and what protoc and flatc make is compiled file by file as ever.
if(CMAKE_UNITY_BUILD)
  target_compile_options(reprise_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# reprise_program(<target> [COMPONENT <names...>]): a program that can be moved together with ../lib and ../share.
# COMPONENT names the parts of `cmake --install` that it belongs to; the default install has none of them.
function(reprise_program target)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "COMPONENT")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  # RPATH rather than RUNPATH: it also holds for what the libraries there need themselves.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  foreach(component IN LISTS program_COMPONENT)
    install(TARGETS ${target} RUNTIME DESTINATION bin COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endfunction()
