// -std=c++20
#define FIXED
#include "waits_bad.cpp"
