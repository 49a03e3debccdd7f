#define FIXED
#include "futures_bad.cpp"
