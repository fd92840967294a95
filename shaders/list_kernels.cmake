# Lists the kernels and constants of a shader file after preprocessing it as each compiler does, and
# writes ${OUT}.shaders.hpp (declares them), ${OUT}.host.inc (the end of the file for the host
# device) and ${OUT}.list.d (dependencies). reprise_add_shaders runs it in the build:
#
#   cmake -DFILE=<a.cu> -DOUT=<folder/a> -DNVCC=<ON or OFF> -P list_kernels.cmake --
#     host <preprocessor and options> gpu <preprocessor and options>
#
# NVCC: OFF without the CUDA device; then the C++ compiler stands in for nvcc.
cmake_policy(VERSION 3.25)

set(host_command "")
set(gpu_command "")
set(to "")
foreach(i RANGE 1 ${CMAKE_ARGC})
  if(CMAKE_ARGV${i} STREQUAL "host" OR CMAKE_ARGV${i} STREQUAL "gpu")
    set(to ${CMAKE_ARGV${i}}_command)
  elseif(to AND DEFINED CMAKE_ARGV${i})
    string(REPLACE ";" "\\;" argument "${CMAKE_ARGV${i}}")
    list(APPEND ${to} "${argument}")
  endif()
endforeach()

# Sets `result` to the names of each `kind` (kernel, constant) in the preprocessed
# ${OUT}.${side}.ii, in their order.
function(list_names result kind side)
  file(STRINGS ${OUT}.${side}.ii lines REGEX "reprise_${kind}_named")
  string(REGEX MATCHALL "reprise_${kind}_named \"[^\"]*\"" names "${lines}")
  list(TRANSFORM names REPLACE "^.*\"([^\"]*)\"$" "\\1")
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

foreach(side host gpu)
  set(may_fail "")
  if(side STREQUAL "gpu" AND NOT NVCC)
    set(may_fail ERROR_QUIET)
  endif()
  execute_process(COMMAND ${${side}_command} -o ${OUT}.${side}.ii RESULT_VARIABLE code ${may_fail})
  if(NOT code EQUAL 0 AND may_fail)
    message(NOTICE "${FILE}: kernels that only nvcc compiles are not declared, because this build has no CUDA toolkit.")
    file(WRITE ${OUT}.gpu.ii "")
  elseif(NOT code EQUAL 0)
    message(FATAL_ERROR " ${FILE} cannot be preprocessed.")  # the space prevents line breaks
  endif()
  list_names(${side}_kernels kernel ${side})
  list_names(${side}_constants constant ${side})
endforeach()

# The names of `extern __shared__` arrays. Each is the dynamic shared memory of the block.
file(STRINGS ${OUT}.host.ii lines REGEX "extern.*reprise_shared_storage")
string(REGEX REPLACE "\\\\?;" "\n" lines "${lines}")
string(REPLACE "[" "<" lines "${lines}")  # brackets and semicolons have a meaning in lists
string(REPLACE "]" ">" lines "${lines}")
string(REGEX MATCHALL "extern[^\n]*reprise_shared_storage[^\n]*" declarations "${lines}")
set(shared_arrays "")
foreach(declaration IN LISTS declarations)
  if(declaration MATCHES "([A-Za-z_][A-Za-z_0-9]*)[ \t]*<[ \t]*>[ \t]*$")
    list(APPEND shared_arrays ${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES shared_arrays)

foreach(kind kernels constants)
  set(gpu_only_${kind} ${gpu_${kind}})
  list(REMOVE_ITEM gpu_only_${kind} ${host_${kind}} "")
  set(${kind} ${host_${kind}} ${gpu_only_${kind}})
endforeach()
if(NOT kernels)
  message(FATAL_ERROR " ${FILE} contains no kernel: reprise_add_shaders expects REPRISE_KERNEL(name, (parameters))")
endif()

cmake_path(GET FILE FILENAME name)
set(declarations "")
foreach(kernel IN LISTS kernels)
  string(APPEND declarations "__attribute__((visibility(\"default\"))) extern const reprise::KernelDesc ${kernel};\n")
endforeach()
foreach(constant IN LISTS constants)
  string(APPEND declarations "__attribute__((visibility(\"default\"))) extern const reprise::ConstantDesc ${constant};\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT}.shaders.hpp @ONLY CONTENT "// The kernels and constants of ${name}.
#pragma once

#include <reprise/kernel_desc.hpp>

namespace shaders {
${declarations}}  // namespace shaders
")

set(definitions "")
foreach(kernel IN LISTS gpu_only_kernels)
  string(APPEND definitions "namespace shaders {
__attribute__((visibility(\"default\"))) extern const reprise::KernelDesc ${kernel};
constinit const reprise::KernelDesc ${kernel} = {\"${kernel}\", {}, nullptr, REPRISE_SHADER_IMAGE, REPRISE_SHADER_SOURCE, false, REPRISE_SHADER_PTX};
}\n")
endforeach()
foreach(constant IN LISTS gpu_only_constants)
  string(APPEND definitions "namespace shaders {
__attribute__((visibility(\"default\"))) extern const reprise::ConstantDesc ${constant};
constinit const reprise::ConstantDesc ${constant} = {\"${constant}\", nullptr, nullptr, 0, REPRISE_SHADER_IMAGE, REPRISE_SHADER_SOURCE};
}\n")
endforeach()
set(aliases "")
set(shared "block.shared")
foreach(array IN LISTS shared_arrays)
  string(APPEND aliases "asm(\".set ${array}, reprise_dynamic_shared_block\");\n")
endforeach()
if(aliases)
  set(aliases "asm(\".type reprise_dynamic_shared_block, @tls_object\");\n${aliases}")
  set(shared "reinterpret_cast<std::byte*>(&reprise_dynamic_shared_block[0])")
endif()
file(CONFIGURE OUTPUT ${OUT}.host.inc @ONLY CONTENT "// Additions of the host device to ${name}: descriptions of kernels and
// constants that only nvcc compiles, and the address of dynamic shared memory.
${definitions}${aliases}namespace reprise::inline REPRISE_ABI::host_kernel {
static std::byte* dynamic_shared([[maybe_unused]] const HostBlock& block) noexcept { return ${shared}; }
}  // namespace reprise::inline REPRISE_ABI::host_kernel
")

set(dependencies "")
foreach(side host gpu)
  if(EXISTS ${OUT}.${side}.d)
    file(READ ${OUT}.${side}.d text)
    string(REGEX REPLACE "^[^:]*:" "" text "${text}")
    string(STRIP "${text}" text)
    string(APPEND dependencies " ${text}")
  endif()
endforeach()
file(WRITE ${OUT}.list.d "${OUT}.shaders.hpp:${dependencies}\n")
file(REMOVE ${OUT}.host.ii ${OUT}.gpu.ii ${OUT}.host.d ${OUT}.gpu.d)
