# Tests the kernels that list_kernels.cmake finds in shader files: cmake -DSHADERS=<folder> -DENGINE=<folder> -DCXX=<compiler> -P kernel_list.cmake
cmake_policy(VERSION 3.25)

set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernel_list)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})

# Lists the kernels of `text`, without nvcc. Sets `code`, `output` and `header`.
macro(list_kernels_of text)
  file(WRITE ${folder}/a.cu "#include <reprise_kernel.hpp>\n${text}\n")
  file(REMOVE ${folder}/a.shaders.hpp ${folder}/a.host.inc)
  set(preprocess ${CXX} -x c++ -std=c++20 -E -DREPRISE_LIST_KERNELS -I${SHADERS}/include -I${ENGINE}/include ${folder}/a.cu)
  execute_process(COMMAND ${CMAKE_COMMAND} -DFILE=${folder}/a.cu -DOUT=${folder}/a -DNVCC=OFF -P ${SHADERS}/list_kernels.cmake --
      host ${preprocess} gpu ${preprocess} -D__CUDACC__
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(header "")
  if(EXISTS ${folder}/a.shaders.hpp)
    file(READ ${folder}/a.shaders.hpp header)
    file(READ ${folder}/a.host.inc rest)
  endif()
endmacro()

macro(expect)
  if(NOT (${ARGN}))
    message(SEND_ERROR "expected ${ARGN}; exit code ${code}:\n${output}\n${header}\n${rest}")
  endif()
endmacro()

list_kernels_of("REPRISE_KERNEL(one, (int* x)) { *x = 1; } REPRISE_KERNEL (two,(int* x)) { *x = 2; }")
expect(code EQUAL 0)
expect(header MATCHES "KernelDesc one.*KernelDesc two")
expect(NOT rest MATCHES "KernelDesc|asm" AND rest MATCHES "return block[.]shared;")

list_kernels_of("extern __shared__ float a[]; void f() { extern __shared__ __align__(16) char b [ ]; __shared__ int c[4]; }
REPRISE_KERNEL(one, (int* x)) { f(); }")
expect(rest MATCHES "set a, reprise_dynamic_shared_block" AND rest MATCHES "set b, ")
expect(NOT rest MATCHES "set c, " AND rest MATCHES "return [^;]*&reprise_dynamic_shared_block")

list_kernels_of("REPRISE_KERNEL(one, (int* x)) { REPRISE_DYNAMIC_SHARED(int, scratch); *x = *scratch; }")
expect(rest MATCHES "return block[.]shared;" AND NOT rest MATCHES "asm")

# Without a header of the toolkit, kernels of nvcc alone are missing, and the build says so.
list_kernels_of("#ifdef __CUDACC__\n#include <no_such_header.cuh>\nREPRISE_KERNEL(gpu, (int* x)) {}\n#endif\nREPRISE_KERNEL(one, (int* x)) {}")
expect(code EQUAL 0)
expect(output MATCHES "a.cu: kernels that only nvcc compiles are not declared")
expect(header MATCHES "KernelDesc one" AND NOT header MATCHES "KernelDesc gpu")

list_kernels_of("// REPRISE_KERNEL(comment, (int* x))\n#if 0\nREPRISE_KERNEL(left_out, (int* x)) {}\n#endif")
expect(NOT code EQUAL 0)
expect(output MATCHES "a.cu contains no kernel")

list_kernels_of("#include \"no_such_header.hpp\"\nREPRISE_KERNEL(one, (int* x)) {}")
expect(NOT code EQUAL 0)
expect(output MATCHES "no_such_header.hpp" AND output MATCHES "a.cu cannot be preprocessed")
