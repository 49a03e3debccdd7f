# The dashboard, a target of its own: nothing else needs it or npm. `cmake --build BUILD --target web`
# puts it into the folder in which BUILD/bin/foretelld looks for it.
add_custom_target(
  web
  COMMAND ${CMAKE_SOURCE_DIR}/clients/web/build ${CMAKE_BINARY_DIR}/share/foretell/web
  COMMENT "Building the dashboard"
  VERBATIM)
