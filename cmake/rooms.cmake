# How a room (a folder of src/), its protos and its tests become targets.

set(SAPPER_WARNINGS -Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wextra-semi)
if(SAPPER_SANITIZE)
  add_compile_options(-fsanitize=${SAPPER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${SAPPER_SANITIZE})
endif()
if(SAPPER_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
# A NaN, a signed zero and the order of a sum mean something here: never let the host compiler touch them.
add_compile_options(-ffp-contract=off)

# sapper_room(NAME DEPENDENCIES...): library sapper_NAME from src/NAME/*.cc.
function(sapper_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  add_library(sapper_${name} STATIC ${sources})
  target_include_directories(sapper_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(sapper_${name} PRIVATE ${SAPPER_WARNINGS})
  target_link_libraries(sapper_${name} PUBLIC ${ARGN})
endfunction()

# sapper_protos(ROOM FILE.proto...): C++ for src/ROOM/FILE.proto, included as "ROOM/FILE.pb.h".
function(sapper_protos name)
  add_library(sapper_${name}_protos STATIC)
  foreach(proto ${ARGN})
    string(REPLACE .proto "" stem ${proto})
    set(out ${CMAKE_BINARY_DIR}/generated/${name}/${stem})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
    add_custom_command(
      OUTPUT ${out}.pb.cc ${out}.pb.h
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/src --cpp_out=${CMAKE_BINARY_DIR}/generated ${name}/${proto}
      DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/${proto})
    target_sources(sapper_${name}_protos PRIVATE ${out}.pb.cc ${out}.pb.h)
  endforeach()
  target_include_directories(sapper_${name}_protos SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(sapper_${name}_protos PUBLIC protobuf::libprotobuf)
  if(SAPPER_SANITIZE MATCHES thread)
    target_compile_options(sapper_${name}_protos PUBLIC -include ${CMAKE_SOURCE_DIR}/cmake/tsan_protobuf.h)
  endif()
  if(TARGET sapper_hlo_protos AND NOT name STREQUAL hlo)
    target_link_libraries(sapper_${name}_protos PUBLIC sapper_hlo_protos)
  endif()
  target_link_libraries(sapper_${name} PUBLIC sapper_${name}_protos)
endfunction()

# sapper_tests(ROOM [LIBRARIES...] [TOGETHER PATTERN]): program ROOM_test from tests/ROOM/*_test.cc, each case a ctest test. Those whose
# names match the pattern are one test together: they share what is slow to start.
function(sapper_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" TOGETHER "")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  target_compile_options(${name}_test PRIVATE ${SAPPER_WARNINGS})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE SAPPER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name}_test PRIVATE sapper_${name} GTest::gmock GTest::gtest_main rapidcheck
    ${tests_UNPARSED_ARGUMENTS})
  set(properties TIMEOUT 900 LABELS ${name}
    ENVIRONMENT "RC_PARAMS=seed=1"  # property tests take the same way every time
    ENVIRONMENT_MODIFICATION "TSAN_OPTIONS=set:suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp")
  if(tests_TOGETHER)
    add_test(NAME ${name}.${tests_TOGETHER} COMMAND ${name}_test --gtest_filter=${tests_TOGETHER})
    set_tests_properties(${name}.${tests_TOGETHER} PROPERTIES ${properties})
    set(others TEST_FILTER -${tests_TOGETHER})
  endif()
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST ${others} PROPERTIES ${properties})
endfunction()

# sapper_seeds(LIBRARIES...): program write_seeds, and a ctest test that writes the seeds of the fuzzers, made of the examples, before they run.
# Target fuzz_test, the tests of the room of that name, builds all of the fuzzers, too.
function(sapper_seeds)
  add_executable(write_seeds ${CMAKE_SOURCE_DIR}/tests/fuzz/write_seeds.cc)
  target_compile_options(write_seeds PRIVATE ${SAPPER_WARNINGS})
  target_link_libraries(write_seeds PRIVATE ${ARGN})
  add_dependencies(fuzz_test write_seeds)
  file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.hlo)
  add_test(NAME fuzz.seeds COMMAND write_seeds ${CMAKE_BINARY_DIR}/fuzz ${examples})
  set_tests_properties(fuzz.seeds PROPERTIES FIXTURES_SETUP fuzz_seeds LABELS fuzz)
endfunction()

# sapper_fuzzer(NAME LIBRARIES...): a libFuzzer program NAME_fuzz from tests/fuzz/NAME_fuzz.cc, and a ctest test that runs it briefly,
# always in the same way, over the seeds of sapper_seeds and those in tests/fuzz/NAME/, where there are any.
function(sapper_fuzzer name)
  set(program ${name}_fuzz)
  add_executable(${program} ${CMAKE_SOURCE_DIR}/tests/fuzz/${program}.cc)
  target_compile_options(${program} PRIVATE ${SAPPER_WARNINGS})
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${program} PRIVATE ${ARGN})
  add_dependencies(fuzz_test ${program})
  set(seeds ${CMAKE_BINARY_DIR}/fuzz)
  set(corpora ${seeds}/${name})  # what is found worth keeping goes to the first: the seeds of the checkout stay as they are
  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/fuzz/${name})
    list(APPEND corpora ${CMAKE_SOURCE_DIR}/tests/fuzz/${name})
  endif()
  add_test(NAME fuzz.${name} COMMAND ${program} -seed=1 -runs=20000 -max_total_time=20 -timeout=10 -max_len=8192
    -create_missing_dirs=1 -dict=${seeds}/words -artifact_prefix=${CMAKE_BINARY_DIR}/${program}. ${corpora})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 300 LABELS fuzz FIXTURES_REQUIRED fuzz_seeds)
endfunction()
