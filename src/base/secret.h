/* SPDX-License-Identifier: Apache-2.0 */
/* What is a secret, and how it is kept out of commands and texts (ERR-4, PROC-15). */
#ifndef CV_BASE_SECRET_H
#define CV_BASE_SECRET_H

#include "base/def.h"

#include <stdbool.h>

/* Whether a variable of this name (len bytes) holds a secret or a door to one. */
bool cv_secret_name(const char *name, size_t len);

/*
 * Overwrites secret values in a text in place with '*': NAME_KEY=value, bearer tokens, sk-…
 * strings.
 */
void cv_redact(char *text);

#endif
