/*
 * Functions that are never the right choice here become compile errors.
 * Force-included into every file by the build.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* With clang, the fortified headers make these macros, which cannot be poisoned. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets atoi atol atoll
#pragma GCC poison gmtime localtime ctime asctime system popen tmpnam mktemp
