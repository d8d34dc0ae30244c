/* SPDX-License-Identifier: Apache-2.0 */
/* Turns calls that can't be used safely into compile errors. */
#ifndef CV_BASE_BANNED_H
#define CV_BASE_BANNED_H

/* Their own headers come first, so that the names can be poisoned afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok system popen strncpy strncat

#endif
