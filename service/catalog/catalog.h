/* The catalog of one version: immutable tables and look-ups in them. db/ fills it, everyone else reads. */
#ifndef SERVICE_CATALOG_CATALOG_H
#define SERVICE_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/base/money.h"
#include "service/hardware/gpu.h"
#include "service/hardware/machine.h"
#include "service/hardware/rates.h"
#include "service/model/arch.h"
#include "service/model/params.h"

/* Texts are lent by the catalog; NULL where the row has none. Absent numbers are 0, absent booleans -1. */

struct provider {
    const char *id, *name, *name_zh, *kind, *country, *source, *source_date;
};

enum price_type {
    PRICE_TYPE_UNSAID = 0,
    PRICE_ON_DEMAND,
    PRICE_SPOT,
    PRICE_RESERVED,
    PRICE_SUBSCRIPTION,
    PRICE_PURCHASE,
    PRICE_TYPE_COUNT
};
extern const char *const price_type_names[PRICE_TYPE_COUNT];

enum price_unit { PRICE_PER_HOUR = 0, PRICE_PER_MONTH, PRICE_PER_UNIT };

struct price {
    const char *id, *offer_id;
    enum price_type type;
    enum price_unit unit;
    uint32_t term_months;
    struct money low, high; /* equal unless the source gives a range */
    const char *region, *country;
    int tax_included;                                  /* 1, 0, -1: not said */
    const char *observed_date, *valid_from, *valid_to; /* dates as text: they sort as they are */
    const char *note, *source, *source_date;
    char confidence;
};

/* Something that can be had: a cloud instance (rented) or a server (bought). */
struct offer {
    const char *id, *name;
    const struct provider *provider;
    bool is_server;
    const struct gpu *gpu; /* NULL: the provider does not say which device. A share of a GPU is a gpu_slice() of it */
    const char *gpu_name;
    double gpu_count; /* below 1: a share of a GPU */
    uint32_t vcpu_count;
    uint64_t ram_bytes, local_nvme_bytes;
    double network_bits_per_second;
    enum intranode intranode;
    const char *cpu, *cooling;
    uint32_t cpu_count, max_power_watts, rack_units;
    const char *note, *source, *source_date;
    char confidence;
    const struct price *prices; /* its prices that hold at the catalog's as_of, price_count of them */
    size_t price_count;
};

struct storage_tier {
    const char *id, *name, *media, *scope;
    const struct provider *provider; /* NULL: hardware one owns */
    double max_read_bytes_per_second, max_write_bytes_per_second, max_iops;
    uint64_t min_bytes, max_bytes;
    struct money price_per_gb_month; /* currency UNSAID: no price known */
    const char *note, *source, *source_date;
};

struct network_link {
    const char *id, *technology, *name, *scope;
    double bits_per_second;
    const char *note, *source, *source_date;
};

struct exchange_rate {
    const char *id;
    enum currency base, quote;
    double rate; /* quote units for one base unit */
    const char *rate_date, *source, *source_date;
};

struct model_preset {
    const char *id, *name, *name_zh, *publisher, *licence, *source, *source_date;
    const struct fact *facts; /* its config, sorted by path */
    size_t fact_count;
    struct model_arch arch; /* read once at loading */
    struct model_params params;
};

/* One spelling of a GPU or model. Arrays of them are sorted by alias. */
struct alias {
    const char *alias;
    size_t index; /* into gpus or models */
    bool ambiguous;
};

/* Every array is sorted by id (strcmp); prices by offer_id, then id. */
struct catalog {
    uint64_t version;
    const char *as_of; /* RFC 3339 UTC: the time this version was made */
    bool embedded;     /* the seed compiled into the program */
    const struct gpu *gpus;
    size_t gpu_count;
    const struct alias *gpu_aliases;
    size_t gpu_alias_count;
    const struct provider *providers;
    size_t provider_count;
    const struct offer *offers; /* instances and servers together */
    size_t offer_count;
    const struct price *prices;
    size_t price_count;
    const struct storage_tier *storage;
    size_t storage_count;
    const struct network_link *networks;
    size_t network_count;
    const struct exchange_rate *fx;
    size_t fx_count;
    const struct model_preset *models;
    size_t model_count;
    const struct alias *model_aliases;
    size_t model_alias_count;
    struct rates rates;
};

/* By exact id; NULL when there is none. */
const struct gpu *catalog_gpu(const struct catalog *catalog, const char *id);
const struct offer *catalog_offer(const struct catalog *catalog, const char *id);
const struct provider *catalog_provider(const struct catalog *catalog, const char *id);
const struct storage_tier *catalog_storage(const struct catalog *catalog, const char *id);
const struct model_preset *catalog_model(const struct catalog *catalog, const char *id);

/* By id or any spelling people use (case, blanks, "NVIDIA", "GeForce" do not matter). *ret_ambiguous: the name fits
 * several devices and the usual one was taken. NULL when nothing fits. */
const struct gpu *catalog_gpu_by_name(const struct catalog *catalog, const char *name, bool *ret_ambiguous);
const struct model_preset *catalog_model_by_name(const struct catalog *catalog, const char *name);

/* The id nearest to a word that was not found, NULL when nothing is near: for "did you mean". */
const char *catalog_nearest_gpu(const struct catalog *catalog, const char *name);
const char *catalog_nearest_model(const struct catalog *catalog, const char *name);
const char *catalog_nearest_offer(const struct catalog *catalog, const char *name, bool is_server);
const char *catalog_nearest_provider(const struct catalog *catalog, const char *name);
const char *catalog_nearest_storage(const struct catalog *catalog, const char *name);

/* Converts money by the catalog's rates, directly, inversely or over one common currency. false: no rate is known.
 * *ret_rate (may be NULL) is the row that was used, or the first of two. */
bool catalog_exchange(const struct catalog *catalog, struct money from, enum currency to, struct money *ret_money,
                      const struct exchange_rate **ret_rate);

#endif
