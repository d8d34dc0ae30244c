/* SPDX-License-Identifier: Apache-2.0 */
/* The cancellation flag from the library's side. */
#ifndef CV_BASE_CANCEL_H
#define CV_BASE_CANCEL_H

#include <cove/base.h>

/* A descriptor that is readable once the flag was fired; -1 for NULL. */
int cv_cancel_fd(const struct cove_cancel *cancel);

#endif
