# After nvcc has built FATBIN: moves the PTX of each of the CAPABILITIES (separated by commas) from
# KEPT, the folder of nvcc's intermediate files, to ${FATBIN without extension}.compute_<capability>.ptx,
# and writes FATBIN.hash.hpp, a comment with the hash of FATBIN.
cmake_policy(VERSION 3.25)

cmake_path(REMOVE_EXTENSION FATBIN LAST_ONLY OUTPUT_VARIABLE out)
cmake_path(GET out FILENAME stem)
string(REPLACE "," ";" capabilities "${CAPABILITIES}")
foreach(capability IN LISTS capabilities)
  set(ptx ${KEPT}/${stem}.compute_${capability}.ptx)
  if(NOT EXISTS ${ptx})  # nvcc builds for one architecture
    set(ptx ${KEPT}/${stem}.ptx)
  endif()
  file(RENAME ${ptx} ${out}.compute_${capability}.ptx)
endforeach()
file(REMOVE_RECURSE ${KEPT})
file(SHA256 ${FATBIN} hash)
file(WRITE ${FATBIN}.hash.hpp "// ${hash}\n")
