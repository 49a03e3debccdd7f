# The layout that `cmake --install` creates, and the Debian package (`cpack -G DEB`). Programs that people run
# are in bin; foretelld finds its helpers in ../lib/foretell and the dashboard, if it was built, in
# ../share/foretell/web.
set(helpers lib/foretell)
set(record_lib ${helpers}/record)
# Packaging builds nothing by itself, not even the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

install(TARGETS foretelld foretell foretell-cc foretell-c++ RUNTIME DESTINATION bin)
install(PROGRAMS ${record_archivers} DESTINATION bin)
if(TARGET foretell-instrument)
  install(TARGETS foretell-instrument RUNTIME DESTINATION ${helpers})
endif()
if(TARGET foretell-lower)
  install(TARGETS foretell-lower RUNTIME DESTINATION ${helpers})
endif()
install(TARGETS foretell-worker foretell-webhook RUNTIME DESTINATION ${helpers})

# The recorder's archive is of this machine's kind, so it is not in share, where the wrappers look.
install(DIRECTORY ${record_share}/ DESTINATION ${record_lib} USE_SOURCE_PERMISSIONS)
install(CODE "
  set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/foretell\")
  file(MAKE_DIRECTORY \${to})
  file(CREATE_LINK ../../${record_lib} \${to}/record SYMBOLIC)")
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/foretell/web DESTINATION share/foretell OPTIONAL)

# ---- Manual pages, compressed as Debian has them; completions -------------------------------------

set(generated ${CMAKE_BINARY_DIR}/installed)
foreach(page foretell.1 foretell-cc.1 foretelld.8)
  string(REGEX REPLACE ".*\\." "" section ${page})
  add_custom_command(
    OUTPUT ${generated}/${page}.gz
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/docs/man/${page} > ${generated}/${page}.gz
    DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/${page}
    VERBATIM)
  list(APPEND installed ${generated}/${page}.gz)
  install(FILES ${generated}/${page}.gz DESTINATION share/man/man${section})
endforeach()
install(CODE "
  file(CREATE_LINK foretell-cc.1.gz
       \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man1/foretell-c++.1.gz\" SYMBOLIC)")

add_custom_command(
  OUTPUT ${generated}/changelog.gz
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
  COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/cmake/packaging/changelog > ${generated}/changelog.gz
  DEPENDS ${CMAKE_SOURCE_DIR}/cmake/packaging/changelog
  VERBATIM)
list(APPEND installed ${generated}/changelog.gz)
install(FILES ${generated}/changelog.gz cmake/packaging/copyright DESTINATION share/doc/foretell)

set(completion_bash share/bash-completion/completions foretell)
set(completion_zsh share/zsh/vendor-completions _foretell)
set(completion_fish share/fish/vendor_completions.d foretell.fish)
foreach(shell bash zsh fish)
  list(GET completion_${shell} 0 folder)
  list(GET completion_${shell} 1 name)
  add_custom_command(
    OUTPUT ${generated}/${shell}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/${shell}
    COMMAND foretell completion ${shell} > ${generated}/${shell}/${name}
    DEPENDS foretell
    VERBATIM)
  list(APPEND installed ${generated}/${shell}/${name})
  install(FILES ${generated}/${shell}/${name} DESTINATION ${folder})
endforeach()
add_custom_target(installed_files ALL DEPENDS ${installed})

# ---- The service ---------------------------------------------------------------------------------

# The unit and the configuration contain paths, which are known at installation only.
install(CODE "set(source ${CMAKE_SOURCE_DIR})")
install(SCRIPT cmake/packaging/service.cmake)
install(FILES README.md DESTINATION share/doc/foretell)
install(DIRECTORY docs/ DESTINATION share/doc/foretell/docs FILES_MATCHING PATTERN "*.md"
        PATTERN man EXCLUDE PATTERN images EXCLUDE)
install(FILES deploy/systemd/network.conf deploy/nginx/foretell.conf deploy/caddy/Caddyfile
        DESTINATION share/doc/foretell/examples)

# ---- The package ---------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME foretell)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts concurrency bugs from passing runs")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Foretell reads one run of a concurrent program and says which bugs other
schedules of the same events would have hit: data races, atomicity violations,
failing assertions, deadlocks, lock and order errors, each with a checked
schedule that hits it. This package has the server (foretelld), the command
line (foretell) and the recorder's compiler wrappers (foretell-cc).")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Foretell <foretell@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PREDEPENDS "init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "systemd, ca-certificates, gcc")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nginx | caddy, logrotate, clang, clang-14") # clang: foretell-cc --symbolic; clang-14: lower
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(script postinst prerm postrm conffiles)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/packaging/${script})
endforeach()
include(CPack)
