#include "service/feed/transfer.h"

double
transfer_seconds(double bytes, double bits_per_second)
{
    return bytes * 8 / bits_per_second;
}
