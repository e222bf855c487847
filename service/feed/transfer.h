/* How long data takes over a line. */
#ifndef SERVICE_FEED_TRANSFER_H
#define SERVICE_FEED_TRANSFER_H

/* Seconds for so many bytes over a line of so many bits per second, of which all are had. */
double transfer_seconds(double bytes, double bits_per_second);

#endif
