# The PJRT C API header, pjrt_c_api.h: it comes with the cpu@0.81 plugin's wheel (src/target/plugins.txt) and is never committed.
# PJRT_INCLUDE_DIR: its folder; found in sapper's cache, which the setup script fills.
block()
  if(DEFINED ENV{SAPPER_CACHE})
    set(cache $ENV{SAPPER_CACHE})
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(cache $ENV{XDG_CACHE_HOME}/sapper)
  else()
    set(cache $ENV{HOME}/.cache/sapper)
  endif()
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/target/plugins.txt line REGEX "^cpu@0.81 ")
  string(REGEX REPLACE " +" ";" line "${line}")
  list(GET line 1 wheel)
  list(GET line 2 version)
  find_path(PJRT_INCLUDE_DIR pjrt_c_api.h
    HINTS ${cache}/plugins/${wheel}-${version}/xla_plugins/xla_cpu_pjrt/include NO_DEFAULT_PATH)
  if(NOT PJRT_INCLUDE_DIR)
    message(FATAL_ERROR
      "pjrt_c_api.h is not in ${cache}/plugins. Fetch it (network needed):\n"
      "  ${CMAKE_SOURCE_DIR}/src/target/fetch_plugin.sh ${cache} ${wheel} ${version}\n"
      "or say where it is: -DPJRT_INCLUDE_DIR=FOLDER.")
  endif()
endblock()
