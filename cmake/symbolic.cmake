# foretell-instrument, which `foretell-cc --symbolic` needs beside clang. Built where LLVM's C API is
# installed (Debian: llvm-14-dev); without it everything else is built, and the wrapper says so.

find_program(FT_LLVM_CONFIG NAMES llvm-config-14 llvm-config)
set(llvm_version 0)
if(FT_LLVM_CONFIG)
  execute_process(COMMAND ${FT_LLVM_CONFIG} --version OUTPUT_VARIABLE llvm_version
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${FT_LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_includes
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${FT_LLVM_CONFIG} --ldflags --libs core analysis bitreader bitwriter
                          transformutils --system-libs
                  OUTPUT_VARIABLE llvm_libraries OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "[ \n]+" ";" llvm_libraries "${llvm_libraries}")
endif()

if(NOT llvm_version MATCHES "^14\\." OR NOT EXISTS ${llvm_includes}/llvm-c/Core.h)
  message(STATUS "No LLVM 14 with its C API (Debian: llvm-14-dev): foretell-cc --symbolic is not built")
else()
  file(GLOB instrument_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/record/symbolic/*.c)
  add_executable(foretell-instrument ${instrument_sources})
  target_include_directories(foretell-instrument PRIVATE clients/record)
  target_include_directories(foretell-instrument SYSTEM PRIVATE ${llvm_includes})
  target_link_libraries(foretell-instrument PRIVATE forecommon ${llvm_libraries})
  foreach(wrapper foretell-cc foretell-c++)
    add_dependencies(${wrapper} foretell-instrument)
  endforeach()
endif()
