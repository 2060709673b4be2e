/* api/handlers.h: a handler per row of routes.def. */
#ifndef TALLY_API_HANDLERS_H
#define TALLY_API_HANDLERS_H

#include "api/request.h"

#define R(method, path, name, right, params, body, summary) route_run run_##name;
#include "api/routes.def"
#undef R

#endif
