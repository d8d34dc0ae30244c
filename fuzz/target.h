/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target gives: libFuzzer, or the driver that replays a corpus, calls it. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include "base/def.h"

#include <stdint.h>

/* Ends the process if a rule is broken; a broken memory is the sanitizers' business. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
