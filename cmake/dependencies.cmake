# Every dependency is a system package; nothing is downloaded.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CURL REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# Z3: tested with 4.8.12. Later versions (4.13) fix expressions instead of numbers in the user
# propagator's callbacks; the probe tells solve/session.c which form to use.
find_library(Z3_LIBRARY z3 REQUIRED)
find_path(Z3_INCLUDE_DIR z3.h PATH_SUFFIXES z3 REQUIRED)
add_library(ft_z3 INTERFACE)
target_link_libraries(ft_z3 INTERFACE ${Z3_LIBRARY} m)
target_include_directories(ft_z3 SYSTEM INTERFACE ${Z3_INCLUDE_DIR})
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${Z3_INCLUDE_DIR})
set(CMAKE_REQUIRED_LIBRARIES ${Z3_LIBRARY})
set(CMAKE_REQUIRED_FLAGS "-Werror=incompatible-pointer-types")
check_c_source_compiles("
  #include <z3.h>
  static void fixed(void *c, Z3_solver_callback cb, Z3_ast t, Z3_ast v)
  { (void)c; (void)cb; (void)t; (void)v; }
  int main(void) { Z3_solver_propagate_fixed(0, 0, fixed); return 0; }
  " FT_Z3_EXPRESSION_CALLBACKS)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
if(FT_Z3_EXPRESSION_CALLBACKS)
  target_compile_definitions(ft_z3 INTERFACE FT_Z3_EXPRESSION_CALLBACKS)
endif()

# llhttp: the system's development package, otherwise the C sources of Debian 12's node-llhttp.
add_library(ft_llhttp INTERFACE)
find_path(LLHTTP_INCLUDE_DIR llhttp.h PATHS /usr/share/include/llhttp /usr/share/llhttp)
find_library(LLHTTP_LIBRARY llhttp)
if(LLHTTP_LIBRARY AND LLHTTP_INCLUDE_DIR)
  target_link_libraries(ft_llhttp INTERFACE ${LLHTTP_LIBRARY})
  target_include_directories(ft_llhttp SYSTEM INTERFACE ${LLHTTP_INCLUDE_DIR})
else()
  find_path(LLHTTP_SOURCES llhttp.c PATHS /usr/share/llhttp /usr/share/llhttp/src REQUIRED)
  add_library(llhttp_sources STATIC ${LLHTTP_SOURCES}/llhttp.c ${LLHTTP_SOURCES}/api.c
              ${LLHTTP_SOURCES}/http.c)
  target_compile_options(llhttp_sources PRIVATE -w)
  target_include_directories(llhttp_sources SYSTEM PUBLIC ${LLHTTP_INCLUDE_DIR})
  target_link_libraries(ft_llhttp INTERFACE llhttp_sources)
endif()
