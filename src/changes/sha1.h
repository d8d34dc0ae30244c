/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1, by which git names a file's content; it guards against mistakes here, not against anybody. */
#ifndef CV_CHANGES_SHA1_H
#define CV_CHANGES_SHA1_H

#include "base/def.h"

/* The name git has for a file with this content: 40 hexadecimal digits and NUL. */
void cv_blob_name(const char *data, size_t len, char ret[41]);

#endif
