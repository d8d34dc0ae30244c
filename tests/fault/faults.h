/* SPDX-License-Identifier: Apache-2.0 */
/* What a test and the guest that it makes fail have in common: one page of shared memory. */
#ifndef FAULT_FAULTS_H
#define FAULT_FAULTS_H

#include <stdatomic.h>

/* Names the file that both map. */
#define FAULTS_VARIABLE "COVE_TEST_FAULTS"

enum fault_mode {
	FAULT_NONE,
	FAULT_ALLOCATION, /* the Nth allocation gives NULL */
	FAULT_CALL,	  /* the Nth system call that can fail does */
	FAULT_INTERRUPTED /* the Nth system call that can wait gives EINTR */
};

struct faults {
	atomic_int mode;
	atomic_int left; /* calls of this mode until the one that fails */
	atomic_int fired;
	char what[32]; /* the one that failed */
};

#endif
