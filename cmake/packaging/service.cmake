# At installation, with `source` set: the unit, users, folders, configuration and log rotation.
set(etc ${CMAKE_INSTALL_PREFIX}/etc)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(etc /etc)
endif()
set(lib $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib)

# put(FILE TEXT): writes the file, readable by everybody.
function(put file text)
  message(STATUS "Installing: ${file}")
  file(WRITE ${file} "${text}")
  file(CHMOD ${file} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

# Keeps semicolons and brackets: CMake must not turn these texts into lists.
file(READ ${source}/deploy/systemd/foretelld.service unit)
string(REPLACE "=/usr/bin/" "=${CMAKE_INSTALL_PREFIX}/bin/" unit "${unit}")
string(REPLACE " /etc/" " ${etc}/" unit "${unit}")
put(${lib}/systemd/system/foretelld.service "${unit}")

foreach(kind sysusers tmpfiles)
  file(READ ${source}/deploy/systemd/${kind}.conf text)
  put(${lib}/${kind}.d/foretell.conf "${text}")
endforeach()

file(READ ${source}/config/foretelld.conf config)
string(REPLACE "\nstate = foretell-state\n" "\nstate = /var/lib/foretell\n" config "${config}")
string(REPLACE "\nsocket =\n" "\nsocket = /run/foretell/foretelld.sock\n" config "${config}")
put($ENV{DESTDIR}${etc}/foretell/foretelld.conf "${config}")
file(READ ${source}/deploy/logrotate rotation)
put($ENV{DESTDIR}${etc}/logrotate.d/foretell "${rotation}")
