# Turns schema/migrations into one C array a dialect, so that the daemon needs no file beside it.
foreach(dialect sqlite postgres)
  file(GLOB migrations CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/migrations/*.${dialect}.sql)
  list(SORT migrations)
  set(embedded ${CMAKE_BINARY_DIR}/generated/migrations_${dialect}.c)
  set(symbol ft_migrations)
  if(dialect STREQUAL "postgres")
    set(symbol ft_postgres_migrations)
  endif()
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DSYMBOL=${symbol} "-DINPUTS=${migrations}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
    DEPENDS ${migrations} ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
    VERBATIM)
  target_sources(foreserver PRIVATE ${embedded})
endforeach()

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
