/* api/args.h: what the parameters of params.def fill, a struct per group. */
#ifndef TALLY_API_ARGS_H
#define TALLY_API_ARGS_H

#include "api/param.h"

extern const struct param_group params_NONE;

#endif
