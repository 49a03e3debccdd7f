# INPUT (a file) -> OUTPUT: const char SYMBOL[], its text.
file(READ ${INPUT} text HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
string(REPLACE "\\x0a" "\\x0a\"\n\"" text "${text}")
set(declaration "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] =\n")
file(WRITE ${OUTPUT} "/* Generated from ${INPUT}. */\n${declaration}\"${text}\";\n")
