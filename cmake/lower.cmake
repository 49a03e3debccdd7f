# foretell-lower: C to programs as data. Built where LLVM's C API and clang are (Debian: llvm-14-dev,
# clang-14); without them everything else is built.
find_program(FT_CLANG NAMES clang-14)
if(NOT llvm_version MATCHES "^14\\." OR NOT EXISTS ${llvm_includes}/llvm-c/Core.h OR NOT FT_CLANG)
  message(STATUS "No LLVM 14 with its C API, or no clang-14: foretell-lower is not built")
else()
  execute_process(COMMAND ${FT_LLVM_CONFIG} --ldflags --libs core irreader linker passes --system-libs
                  OUTPUT_VARIABLE lower_libraries OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "[ \n]+" ";" lower_libraries "${lower_libraries}")
  find_program(FT_LLVM_LINK NAMES llvm-link-14 HINTS /usr/lib/llvm-14/bin REQUIRED)
  file(GLOB model_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/lower/models/*.c)
  file(GLOB model_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/lower/models/*.h)
  set(preamble ${CMAKE_SOURCE_DIR}/clients/lower/models/preamble.hpp)
  set(models)
  foreach(source ${model_sources})
    get_filename_component(name ${source} NAME_WE)
    set(bitcode ${CMAKE_BINARY_DIR}/models/${name}.bc)
    add_custom_command(OUTPUT ${bitcode}
                       DEPENDS ${source} ${model_headers}
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/models
                       COMMAND ${FT_CLANG} -O0 -Xclang -disable-O0-optnone -fno-builtin -w -emit-llvm
                               -c ${source} -o ${bitcode}
                       VERBATIM)
    list(APPEND models ${bitcode})
  endforeach()
  set(all_models ${CMAKE_BINARY_DIR}/models/all.bc)
  add_custom_command(OUTPUT ${all_models} DEPENDS ${models}
                     COMMAND ${FT_LLVM_LINK} ${models} -o ${all_models} VERBATIM)
  file(GLOB lower_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/lower/*.c)
  add_executable(foretell-lower ${lower_sources})
  target_include_directories(foretell-lower SYSTEM PRIVATE ${llvm_includes})
  target_link_libraries(foretell-lower PRIVATE forecommon ${lower_libraries})
  set_source_files_properties(${CMAKE_SOURCE_DIR}/clients/lower/models.c PROPERTIES
                              COMPILE_DEFINITIONS "FT_MODELS=\"${all_models}\";FT_PREAMBLE=\"${preamble}\""
                              OBJECT_DEPENDS "${all_models};${preamble}")
endif()
