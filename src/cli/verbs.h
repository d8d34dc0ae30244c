/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs; each is defined in its cmd_<verb>.c. */
#ifndef CV_CLI_VERBS_H
#define CV_CLI_VERBS_H

#include "cli/opts.h"

extern const struct verb verb_run;
extern const struct verb verb_exec;
extern const struct verb verb_call;
extern const struct verb verb_files;
extern const struct verb verb_providers;
extern const struct verb verb_doctor;

/* Exit code of a wrong command line. */
#define EXIT_USAGE 2

#endif
