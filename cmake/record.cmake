# The recorder: the runtime archive that recorded programs are linked with, the maker that turns its
# log into a trace, and the compiler wrappers. The wrappers find the rest in ../share/foretell/record.

set(record_share ${CMAKE_BINARY_DIR}/share/foretell/record)

file(GLOB_RECURSE runtime_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/record/runtime/*.c)
add_library(foretell-record STATIC ${runtime_sources})
target_include_directories(foretell-record PRIVATE clients/record clients/record/runtime common)
set_target_properties(foretell-record PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${record_share}
                      C_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON)
# The runtime runs inside a foreign program: no sanitizers, no calls that the compiler generates
# (it would call itself), and access to thread state without a call.
set(record_options -O2 -fno-sanitize=all -fno-stack-protector -fno-builtin -ftls-model=initial-exec
    -fno-tree-slp-vectorize $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>)
# Without debug information, whatever the build: that of a program tells its variables from these.
target_compile_options(foretell-record PRIVATE ${record_options} -g0)

# A program may define functions of its own under the C library's names.
add_custom_command(TARGET foretell-record POST_BUILD
                   COMMAND ${CMAKE_SOURCE_DIR}/cmake/yield.sh ${CMAKE_LINKER} ${CMAKE_OBJCOPY}
                           ${CMAKE_OBJDUMP} ${CMAKE_AR} $<TARGET_FILE:foretell-record>)

# For programs that define functions of wrapped.h themselves.
add_library(foretell-libc STATIC clients/record/wrapper/libc_names.c)
target_include_directories(foretell-libc PRIVATE common)
set_target_properties(foretell-libc PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${record_share}
                      C_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON)
target_compile_options(foretell-libc PRIVATE ${record_options})

# The program's calls of these functions are redirected (wrapped.h); the runtime itself calls them directly.
file(READ ${CMAKE_SOURCE_DIR}/clients/record/wrapper/wrapped.h wrapped)
string(REGEX MATCHALL "X\\([a-z0-9_]+\\)" wrapped "${wrapped}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_SOURCE_DIR}/clients/record/wrapper/wrapped.h)
set(plainly)
foreach(row ${wrapped})
  string(REGEX REPLACE "X.([a-z0-9_]+)." "\\1" name ${row})
  string(APPEND plainly "#define ${name} __real_${name}\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/plainly.h CONTENT "${plainly}")
foreach(source ${runtime_sources})
  if(NOT source MATCHES "/(access|queries|format|results|strings)\\.c$")
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                                "-include;${CMAKE_BINARY_DIR}/generated/plainly.h")
  endif()
endforeach()

# The replacements for code of the C++ library call the recorder as the program does.
set(hooked -fsanitize=thread -fno-omit-frame-pointer -g0)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND hooked --param=tsan-instrument-func-entry-exit=1)
else()
  list(APPEND hooked -mllvm -tsan-instrument-read-before-write=1)
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/clients/record/runtime/uninstrumented/containers.c PROPERTIES
                            COMPILE_OPTIONS "${hooked}")
# Exceptions pass through the calls that run an initialiser once, and those that join a thread.
set_property(SOURCE ${CMAKE_SOURCE_DIR}/clients/record/runtime/sync/once.c
             ${CMAKE_SOURCE_DIR}/clients/record/runtime/uninstrumented/libstdcxx.c APPEND
             PROPERTY COMPILE_OPTIONS -fexceptions)

foretell_library(forerecord clients/record/maker)
target_include_directories(forerecord PUBLIC clients/record)
target_link_libraries(forerecord PUBLIC forecommon PkgConfig::DW PkgConfig::ELF)

# The executor that drives explored programs.
foretell_library(forenative clients/record/native)
target_include_directories(forenative PUBLIC clients/record)
target_link_libraries(forenative PUBLIC forecommon)

# The assembler that the compilers behind the wrappers run; they look for one called `as'.
file(GLOB_RECURSE assembler_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/record/assembler/*.c)
list(REMOVE_ITEM assembler_sources ${CMAKE_SOURCE_DIR}/clients/record/assembler/main.c)
add_library(foreassembler STATIC ${assembler_sources})
target_include_directories(foreassembler PUBLIC clients/record common)
add_executable(foretell-as clients/record/assembler/main.c)
target_link_libraries(foretell-as PRIVATE foreassembler)
set_target_properties(foretell-as PROPERTIES OUTPUT_NAME as
                      RUNTIME_OUTPUT_DIRECTORY ${record_share}/bin)

file(GLOB wrapper_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/record/wrapper/*.c)
list(REMOVE_ITEM wrapper_sources ${CMAKE_SOURCE_DIR}/clients/record/wrapper/libc_names.c)
foreach(wrapper foretell-cc foretell-c++)
  add_executable(${wrapper} ${wrapper_sources})
  target_include_directories(${wrapper} PRIVATE clients/record common)
  add_dependencies(${wrapper} foretell-record foretell-libc foretell-as)
endforeach()
set(record_archivers)
foreach(tool gcc-ar gcc-ranlib llvm-ar llvm-ranlib)
  configure_file(clients/record/wrapper/archiver.sh ${CMAKE_BINARY_DIR}/bin/foretell-${tool} COPYONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                 WORLD_READ WORLD_EXECUTE)
  list(APPEND record_archivers ${CMAKE_BINARY_DIR}/bin/foretell-${tool})
endforeach()
configure_file(clients/record/wrapper/foretell.specs ${record_share}/foretell.specs COPYONLY)
file(GLOB_RECURSE record_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/record/include/*.h
     ${CMAKE_SOURCE_DIR}/clients/record/include/*.tcc)
foreach(header ${record_headers})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/clients/record ${header})
  configure_file(${header} ${record_share}/${name} COPYONLY)
endforeach()
