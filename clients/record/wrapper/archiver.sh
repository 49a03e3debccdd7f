#!/bin/sh
# CMake takes `foretell-' for the prefix of a tool chain and looks for its archivers of code for the
# linker's optimisation (check_ipo_supported) under that name: they are the compiler's own.
tool=${0##*/foretell-}
case $tool in
llvm-*) exec "$(${FORETELL_CC:-clang} -print-prog-name="$tool")" "$@" ;;
*) exec "$tool" "$@" ;;
esac
