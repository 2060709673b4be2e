/* api/http.h: libmicrohttpd's callbacks; inside this room only. */
#ifndef TALLY_API_HTTP_H
#define TALLY_API_HTTP_H

#include <microhttpd.h>

#include "api/request.h"

/* What api.c hands to MHD_start_daemon; cls is the struct api. */
void *http_begin(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result http_access(void *cls, struct MHD_Connection *connection, const char *url,
			    const char *method, const char *version, const char *upload_data,
			    size_t *upload_data_size, void **con_cls);
void http_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
		    enum MHD_RequestTerminationCode toe);

#endif
