#define FIXED
#include "ends_bad.c"
