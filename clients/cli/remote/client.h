/* Requests to foretelld over TCP or a Unix socket. */
#ifndef FT_CLI_CLIENT_H
#define FT_CLI_CLIENT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/strbuf.h"

typedef struct ft_client ft_client;

/* server: http://HOST[:PORT], https://HOST[:PORT] or unix:PATH. FT_USAGE: neither. No connection is
 * made yet. */
ft_status ft_client_open(const char *server, ft_client **client, ft_error *err) FT_MUST_CHECK;
void ft_client_close(ft_client *client);             /* accepts NULL */
const char *ft_client_base(const ft_client *client); /* "http://127.0.0.1:7411" */

/* One request. Zero-initialise; method and path are required. */
typedef struct ft_request {
    const char *method;   /* "GET" */
    const char *path;     /* "/v1/jobs" */
    const json_t *json;   /* JSON body */
    FILE *file;           /* body streamed from here, from its current position */
    uint64_t file_bytes;  /* how much of it */
    const char *encoding; /* Content-Encoding of the file, NULL: none */
    const char *etag;     /* If-None-Match, NULL: none */
    uint32_t wait;        /* Prefer: wait, seconds; 0: none */
    bool patient;         /* a signal waits for the answer, two seconds at most: it names what is
                           * made there */
    void (*sent)(void *context, uint64_t bytes); /* of the file, now and then; NULL: nobody asks */
    void *context;
} ft_request;

/* Its answer. Embedded: zero-initialise, then ft_reply_release. */
typedef struct ft_reply {
    int status; /* 200, 304, ... */
    ft_strbuf body;
    json_t *json;   /* the body when its type is JSON, else NULL */
    char *etag;     /* or NULL */
    char *location; /* or NULL */
} ft_reply;
void ft_reply_release(ft_reply *reply);

/* FT_OK: an answer with a status below 400. Else the problem's code, text and place; FT_IO where
 * the server cannot be reached, answers what is no Foretell problem, or a signal interrupts. */
ft_status ft_client_send(ft_client *client, const ft_request *request, ft_reply *reply,
                         ft_error *err) FT_MUST_CHECK;

/* GET of a JSON document; a new reference in *json. */
ft_status ft_client_get(ft_client *client, const char *path, json_t **json,
                        ft_error *err) FT_MUST_CHECK;

/* The error that a problem+json body describes, by its "code" where that is one of ours, else by
 * the HTTP status. `json` may be NULL. */
ft_status ft_problem_error(int status, const json_t *json, ft_error *err);

#endif
