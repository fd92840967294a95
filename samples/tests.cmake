# Tests of the samples beyond their ordinary run: other input, bad input, wrong command lines, and the code in the README.

# sample_test(<name> <device> <command...>): runs in the folder of the sample's ordinary run on that device.
function(sample_test name device)
  string(REGEX MATCH "^[a-z]+" sample ${name})
  reprise_device_command(command ${device} ${ARGN})
  add_test(NAME sample.${device}.${name} COMMAND ${command})
  set_tests_properties(sample.${device}.${name} PROPERTIES
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/samples/run-${device}-${sample} LABELS sample TIMEOUT 600
    SKIP_RETURN_CODE ${REPRISE_SKIPPED})
endfunction()

# sample_refusal(<sample>.<case> <exit code> <pattern on stderr> <arguments...>), on the host device.
function(sample_refusal name code pattern)
  string(REGEX MATCH "^[a-z]+" sample ${name})
  sample_test(${name} host ${CMAKE_CURRENT_SOURCE_DIR}/support/expect ${code} ${pattern} $<TARGET_FILE:${sample}> ${ARGN})
endfunction()

add_test(NAME readme.saxpy COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/support/quoted.py ${PROJECT_SOURCE_DIR}/README.md
  ${CMAKE_CURRENT_SOURCE_DIR}/saxpy/main.cpp ${CMAKE_CURRENT_SOURCE_DIR}/saxpy/saxpy.cu)
set_tests_properties(readme.saxpy PROPERTIES LABELS sample)

foreach(device IN LISTS REPRISE_TEST_DEVICES)
  if(TARGET digits)
    sample_test(digits.repeatable ${device}
      ${CMAKE_CURRENT_SOURCE_DIR}/digits/repeatable $<TARGET_FILE:digits> --device ${device} --out repeatable)
  endif()
  if(TARGET digits AND device STREQUAL "host" AND NOT REPRISE_SANITIZE)
    sample_test(digits.ranks ${device}
      ${CMAKE_CURRENT_SOURCE_DIR}/digits/same-on-ranks $<TARGET_FILE:digits> --device ${device} --out ranks)
    set_tests_properties(sample.host.digits.ranks PROPERTIES RESOURCE_LOCK processors)
    sample_refusal(digits.odd-ranks 1 "3 ranks cannot share 8 microbatches evenly" --device host --ranks 3)
  endif()
  sample_test(cholesky.double ${device} cholesky --double --size 192 --tile 64 --replays 2 --device ${device} --out double)
  sample_test(photo.flower ${device} photo ${CMAKE_CURRENT_SOURCE_DIR}/photo/data/flower.jpg --device ${device} --out flower)
  # The sound that the ordinary run made, read again, in other frames.
  if(TARGET spectrogram)
    sample_test(spectrogram.wav ${device} spectrogram out/chirp.wav --size 500 --hop 100 --device ${device} --out again)
    set_tests_properties(sample.${device}.spectrogram.wav PROPERTIES FIXTURES_REQUIRED ${device}.spectrogram)
  endif()
  # A colour PNG of 40 x 27 pixels and a grey one of 320 x 214, which the ordinary run writes.
  foreach(picture IN ITEMS gaussian-4 edges-1)
    sample_test(photo.${picture} ${device} photo out/photo-${picture}.png --device ${device} --out ${picture})
    set_tests_properties(sample.${device}.photo.${picture} PROPERTIES FIXTURES_REQUIRED ${device}.photo.pictures)
  endforeach()
  set_property(TEST sample.${device}.photo APPEND PROPERTY FIXTURES_SETUP ${device}.photo.pictures)
endforeach()

foreach(sample IN ITEMS saxpy updates cg cholesky digits photo spectrogram)
  if(NOT TARGET ${sample})
    continue()
  endif()
  sample_refusal(${sample}.unknown-device 1 "^${sample}: .*nosuch.*host" --device nosuch)
  sample_refusal(${sample}.unknown-option 2 "${sample}" --nonsense)
endforeach()
if(TARGET digits)
  sample_refusal(digits.no-epochs 2 "^digits: --epochs" --device host --epochs 0)
  sample_refusal(digits.no-seed 2 "^digits: .*--seed" --device host --seed many)
  sample_refusal(digits.too-short 1 "^digits: the held-out accuracy is below 96 %" --device host --epochs 1 --out short)
  sample_refusal(digits.no-folder 1 "^digits: cannot make the directory /dev/null/out: " --device host --out /dev/null/out)
endif()
if(TARGET spectrogram)
  sample_refusal(spectrogram.missing 1 "^spectrogram: cannot read nowhere.wav: " nowhere.wav)
  sample_refusal(spectrogram.no-sound 1 "^spectrogram: cannot read .*tests.cmake: " ${CMAKE_CURRENT_LIST_FILE})
  sample_refusal(spectrogram.no-hop 2 "^spectrogram: --hop" --hop 0)
endif()
if(TARGET cg)
  sample_refusal(cg.no-size 2 "^cg: --size" --size 0)
  sample_refusal(cg.limit 1 "^cg: no solution within 5 iterations. give more with --limit" --device host --limit 5 --out limit)
  if(NOT REPRISE_SANITIZE)
    foreach(ranks IN ITEMS 2 4)
      sample_test(cg.ranks-${ranks} host cg --size 50 --device host --ranks ${ranks} --out ranks-${ranks})
      set_tests_properties(sample.host.cg.ranks-${ranks} PROPERTIES RESOURCE_LOCK processors)
    endforeach()
    sample_refusal(cg.many-ranks 1 "^cg, rank [0-2]: 3 ranks cannot share 2 rows" --size 2 --device host --ranks 3)
  endif()
endif()
sample_refusal(cholesky.no-tile 2 "^cholesky: --tile" --tile 48)
sample_refusal(cholesky.no-tiles 1 "^cholesky: a matrix of 100 rows cannot be divided into tiles of 32" --device host --size 100)
sample_refusal(photo.missing 1 "^photo: cannot read nowhere.jpg: No such file" nowhere.jpg)
sample_refusal(photo.folder 1 "^photo: cannot read .: it is no file" .)
sample_refusal(photo.no-picture 1 "^photo: cannot read .*: it is neither a JPEG nor a PNG" ${CMAKE_CURRENT_LIST_FILE})
sample_refusal(photo.no-folder 1 "^photo: cannot make the directory /dev/null/out: " --device host --out /dev/null/out)

# Pictures that stop in the middle.
sample_test(photo.cut-jpeg host sh -c "head -c 60000 '${CMAKE_CURRENT_SOURCE_DIR}/photo/data/china.jpg' > cut.jpg && \
  '${CMAKE_CURRENT_SOURCE_DIR}/support/expect' 1 '^photo: cannot read cut.jpg: .*end of' '$<TARGET_FILE:photo>' cut.jpg")
sample_test(photo.cut-png host sh -c "head -c 9000 out/photo-gaussian-1.png > cut.png && \
  '${CMAKE_CURRENT_SOURCE_DIR}/support/expect' 1 '^photo: cannot read cut.png: ' '$<TARGET_FILE:photo>' cut.png")
set_tests_properties(sample.host.photo.cut-png PROPERTIES FIXTURES_REQUIRED host.photo.pictures)
