# Turns schema/migrations/*.sqlite.sql into one C array, so that the daemon needs no file beside it.
file(GLOB migrations CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/migrations/*.sqlite.sql)
list(SORT migrations)
set(embedded ${CMAKE_BINARY_DIR}/generated/migrations.c)
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} "-DINPUTS=${migrations}"
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
  DEPENDS ${migrations} ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
  VERBATIM)
target_sources(foreserver PRIVATE ${embedded})

# The OpenAPI document, which the daemon serves.
set(description ${CMAKE_SOURCE_DIR}/schema/openapi.json)
set(embedded ${CMAKE_BINARY_DIR}/generated/openapi.c)
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DINPUT=${description} -DSYMBOL=ft_openapi
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
  DEPENDS ${description} ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
  VERBATIM)
target_sources(foreserver PRIVATE ${embedded})
