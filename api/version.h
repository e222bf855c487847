/* The version of sizer, as replies, metrics and the command line tell it. */
#ifndef API_VERSION_H
#define API_VERSION_H

#define SIZER_VERSION "0.1.0"

#endif
