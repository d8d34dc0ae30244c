/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter of commands; tools/gen_filter.c says what it refuses and why. */
#include "sandbox/sandbox.h"

#include "base/def.h"
#include "sandbox/filter_code.h"

const struct sock_fprog *cv_sandbox_filter(void)
{
	static const struct sock_fprog program = {.len = CV_LEN(filter_code),
						  .filter = filter_code};

	return &program;
}
