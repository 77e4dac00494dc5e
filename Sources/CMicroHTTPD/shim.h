#ifndef GIFTCOMBO_CMICROHTTPD_SHIM_H
#define GIFTCOMBO_CMICROHTTPD_SHIM_H

#include <microhttpd.h>

/// Starts a daemon with one polling thread of its own on a socket that already listens.
///
/// MHD_start_daemon takes a variable list of options, which Swift can't call. NULL: it could not be
/// started. A daemon that was started closes the socket when it is stopped.
///
/// The thread uses poll, not epoll: in edge-triggered mode the library (0.9.75) does not see that a
/// client has left when its last bytes and its FIN come together. Such a connection stays until its
/// idle time-out, and a handful of broken clients shut everybody out for that long (tried).
static inline struct MHD_Daemon *giftcombo_start_http_daemon(
    MHD_socket listening, MHD_AccessHandlerCallback handler, void *context,
    unsigned int connection_limit, size_t connection_bytes, unsigned int idle_seconds)
{
    return MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_END);
}

/// The socket of a connection, -1 where there is none; MHD_get_connection_info is variadic.
static inline int giftcombo_connection_descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *fact =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return fact == NULL ? -1 : fact->connect_fd;
}

#endif
