/* Puts the smallest parts of JSON text into memory that has room for them; each returns where the next part goes. */
#ifndef API_JSON_PUT_H
#define API_JSON_PUT_H

#include <stddef.h>
#include <stdint.h>

enum {
    PUT_U64_BYTES = 20,  /* the longest integer */
    PUT_REAL_BYTES = 32, /* the longest real and its sign */
    PUT_TEXT_BYTES = 6,  /* a byte of text: \u00xx at most */
};

char *put_bytes(char *at, const char *bytes, size_t size);
char *put_u64(char *at, uint64_t value);

/* A finite real: whole ones exactly up to 2^63, others with six significant digits at least, without trailing zeros. */
char *put_real(char *at, double value);

/* The inside of a JSON string, PUT_TEXT_BYTES a byte of `text` at most: short escapes where JSON has them, else
 * \u00xx in lower case (RFC 8785, section 3.2.2.2); a byte that is not UTF-8 becomes U+FFFD. */
char *put_text(char *at, const char *text);

#endif
