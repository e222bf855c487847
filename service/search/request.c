#include "service/search/request.h"

#include <math.h>

#include "service/base/text.h"

bool
offer_is_host_card(const struct offer *offer)
{
    return !offer->is_server && offer->gpu_count == 1 && text_equal(offer->provider->kind, "marketplace");
}

/* What is said of a node's processors and memory, by the request or by an offer. */
static struct machine
with_host(struct machine machine, const struct hardware_ask *hardware)
{
    const struct offer *offer = hardware->offer;

    machine.host_cores = hardware->cpu_cores ? hardware->cpu_cores : offer ? offer->vcpu_count : 0;
    machine.host_bytes = hardware->ram_bytes > 0 ? hardware->ram_bytes : offer ? (double)offer->ram_bytes : 0;
    return machine;
}

struct machine
hardware_machine(const struct hardware_ask *hardware)
{
    const struct offer *offer = hardware->offer;
    uint32_t offers = hardware->offer_count ? hardware->offer_count : 1;

    if (!offer)
        return with_host(machine_of(hardware->gpu, hardware->gpus ? hardware->gpus : 1, hardware->gpus_per_node,
                                    hardware->internode_bits_per_second, hardware->intranode),
                         hardware);

    /* a share of a GPU is one smaller device; its memory is handled by whoever sells it as such */
    uint32_t per_node = offer->gpu_count >= 1 ? (uint32_t)lround(offer->gpu_count) : 1;
    uint32_t gpus = per_node * offers;

    if (offer_is_host_card(offer))
        per_node = offers < MAX_HOST_CARDS ? offers : MAX_HOST_CARDS;

    double network =
        hardware->internode_bits_per_second > 0 ? hardware->internode_bits_per_second : offer->network_bits_per_second;
    enum intranode intranode = hardware->intranode ? hardware->intranode : offer->intranode;

    return with_host(machine_of(offer->gpu, gpus, per_node, network, intranode), hardware);
}
