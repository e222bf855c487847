#include "api/json/network_json.h"

#include "service/speed/network_need.h"

void
network_encode(struct json_writer *writer, const struct answer *answer)
{
    const struct training_estimate *estimate = &answer->training.estimate;
    struct network_need need;

    if (!answer->has_training || !estimate->timed || !network_need_of(&estimate->speed, &answer->machine, &need))
        return;
    writer_object(writer, "network");
    writer_real(writer, "required_bits_per_second_per_node", need.bits_per_second_per_node);
    writer_real(writer, "exposed_seconds_per_step", need.exposed_seconds_per_step);
    writer_real(writer, "scaling_efficiency_ratio", need.scaling_efficiency_ratio);
    writer_end_object(writer);
}
