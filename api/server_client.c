/* Who is at the other end of a connection. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "api/server_internal.h"

static void
map_ipv4(const struct in_addr *from, struct client_address *ret_address)
{
    memset(ret_address->bytes, 0, sizeof ret_address->bytes);
    ret_address->bytes[10] = ret_address->bytes[11] = 0xFF; /* ::ffff:a.b.c.d, RFC 4291 section 2.5.5.2 */
    memcpy(ret_address->bytes + 12, from, sizeof *from);
}

/* The address as people write it: IPv4 in its own form even when it came in through an IPv6 socket. */
static void
write_address(const struct client_address *address, char text[INET6_ADDRSTRLEN])
{
    struct in6_addr ipv6;

    memcpy(&ipv6, address->bytes, sizeof ipv6);
    if (IN6_IS_ADDR_V4MAPPED(&ipv6))
        (void)inet_ntop(AF_INET, address->bytes + 12, text, INET6_ADDRSTRLEN);
    else
        (void)inet_ntop(AF_INET6, &ipv6, text, INET6_ADDRSTRLEN);
}

static void
read_address(const struct sockaddr *from, struct client *client)
{
    if (from && from->sa_family == AF_INET)
        map_ipv4(&((const struct sockaddr_in *)(const void *)from)->sin_addr, &client->address);
    else if (from && from->sa_family == AF_INET6)
        memcpy(client->address.bytes, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr,
               sizeof client->address.bytes);
    write_address(&client->address, client->text);
}

/* Connections are counted when they are handed to libmicrohttpd, and here when they have ended. */
static void
count_closed(struct server *server, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    atomic_fetch_sub(&server->open, 1);
    atomic_fetch_sub(&server->open_of_worker[worker_of_socket(server, info->connect_fd)], 1);
}

void
client_notify(void *server, struct MHD_Connection *connection, void **socket_context,
              enum MHD_ConnectionNotificationCode code)
{
    const union MHD_ConnectionInfo *info;
    struct client *client;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        free(*socket_context);
        *socket_context = NULL;
        count_closed(server, connection);
        return;
    }
    client = calloc(1, sizeof *client);
    if (client) {
        info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        read_address(info ? info->client_addr : NULL, client);
    }
    *socket_context = client;
}

const struct client *
client_of(struct MHD_Connection *connection)
{
    static const struct client unknown = { .text = "" };
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info && info->socket_context ? info->socket_context : &unknown;
}

bool
client_forwarded(const char *header, struct client_address *ret_address, char ret_text[INET6_ADDRSTRLEN])
{
    const char *last = strrchr(header, ',');
    char hop[INET6_ADDRSTRLEN + sizeof "[]:65535"];
    struct in_addr ipv4;
    size_t size;

    last = last ? last + 1 : header;
    last += strspn(last, " \t\"[");
    size = strcspn(last, " \t\"]");
    if (size >= sizeof hop)
        return false;
    memcpy(hop, last, size);
    hop[size] = '\0';
    if (strchr(hop, '.') && !strstr(hop, "::"))
        hop[strcspn(hop, ":")] = '\0'; /* some proxies add the port to IPv4 */
    if (inet_pton(AF_INET, hop, &ipv4) == 1)
        map_ipv4(&ipv4, ret_address);
    else if (inet_pton(AF_INET6, hop, ret_address->bytes) != 1)
        return false;
    write_address(ret_address, ret_text);
    return true;
}
