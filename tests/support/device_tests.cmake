# reprise_device_command(<variable> <device> <command...>): sets the variable to the command of a test on that device. On a
# machine without a GPU the command of a test on cuda:N exits with REPRISE_SKIPPED, the SKIP_RETURN_CODE of tests.
set(REPRISE_SKIPPED 77)
function(reprise_device_command variable device program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  if(device MATCHES "^cuda")
    list(PREPEND program ${PROJECT_SOURCE_DIR}/tests/support/on-gpu)
  endif()
  set(${variable} ${program} ${ARGN} PARENT_SCOPE)
endfunction()
