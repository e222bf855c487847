-- The catalog: what hardware exists, who offers it, and what it costs. Every row says where it is from and when.

CREATE TABLE gpus (
    id                               text PRIMARY KEY CHECK (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    vendor                           text NOT NULL,
    name                             text NOT NULL,
    -- How its measured rates behave: the device class, not the marketing name.
    family                           text NOT NULL CHECK (family IN ('volta', 'turing', 'ampere', 'gddr', 'hopper', 'blackwell', 'cdna', 'ascend', 'other')),
    memory_bytes                     bigint NOT NULL CHECK (memory_bytes > 0),   -- what the name says, GiB
    usable_bytes                     bigint NOT NULL CHECK (usable_bytes > 0 AND usable_bytes <= memory_bytes), -- what CUDA reports
    memory_kind                      text,
    memory_bandwidth_bytes_per_second bigint NOT NULL CHECK (memory_bandwidth_bytes_per_second > 0),
    -- Dense peaks with FP32 accumulation; NULL: the device has no such unit, or no source gives it.
    fp32_flop_per_second             bigint CHECK (fp32_flop_per_second > 0),
    tf32_flop_per_second             bigint CHECK (tf32_flop_per_second > 0),
    fp16_flop_per_second             bigint CHECK (fp16_flop_per_second > 0),
    bf16_flop_per_second             bigint CHECK (bf16_flop_per_second > 0),
    fp8_flop_per_second              bigint CHECK (fp8_flop_per_second > 0),
    int8_op_per_second               bigint CHECK (int8_op_per_second > 0),
    fp4_flop_per_second              bigint CHECK (fp4_flop_per_second > 0),
    nvlink_bytes_per_second          bigint CHECK (nvlink_bytes_per_second > 0), -- one way, all links of one GPU
    nvlink_kind                      text NOT NULL CHECK (nvlink_kind IN ('none', 'switch', 'bridge')),
    nvlink_domain_gpus               integer NOT NULL CHECK (nvlink_domain_gpus >= 1),
    pcie_bytes_per_second            bigint NOT NULL CHECK (pcie_bytes_per_second > 0), -- one way
    peer_to_peer                     boolean NOT NULL,
    internode_bytes_per_second       bigint NOT NULL CHECK (internode_bytes_per_second > 0), -- usual network, one way, per GPU
    gpus_per_node                    integer NOT NULL CHECK (gpus_per_node >= 1),
    tdp_watts                        integer CHECK (tdp_watts > 0),
    mig_slices                       integer CHECK (mig_slices > 0),
    form_factor                      text,
    compute_capability               text,
    launch_date                      text,
    export_restricted                boolean,  -- named in the US rules for China of 2022-10 and 2023-10; NULL: not known
    note                             text,
    source                           text NOT NULL,
    source_date                      text NOT NULL
);

CREATE TABLE gpu_aliases (
    alias       text PRIMARY KEY,   -- lower case, words separated by one space
    gpu_id      text NOT NULL REFERENCES gpus,
    ambiguous   boolean NOT NULL,   -- true: the name fits more than one device, this is the usual one
    source      text NOT NULL,
    source_date text NOT NULL
);

CREATE TABLE providers (
    id          text PRIMARY KEY CHECK (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    name        text NOT NULL,
    name_zh     text,
    kind        text NOT NULL CHECK (kind IN ('cloud', 'marketplace', 'vendor')),
    country     text CHECK (country ~ '^[A-Z]{2}$'),
    source      text NOT NULL,
    source_date text NOT NULL
);

CREATE TABLE instances (
    id                      text PRIMARY KEY, -- provider:its-own-name
    provider_id             text NOT NULL REFERENCES providers,
    name                    text NOT NULL,
    gpu_id                  text REFERENCES gpus, -- NULL: the provider does not say which device
    gpu_name                text NOT NULL,        -- as the provider prints it
    gpu_count               numeric(10, 4) NOT NULL CHECK (gpu_count > 0), -- a share of a GPU is less than 1
    vcpu_count              integer CHECK (vcpu_count > 0),
    ram_bytes               bigint CHECK (ram_bytes > 0),
    local_nvme_bytes        bigint CHECK (local_nvme_bytes > 0),
    network_bits_per_second bigint CHECK (network_bits_per_second > 0),
    intranode               text CHECK (intranode IN ('nvlink', 'pcie')), -- NULL: as the GPU has it
    note                    text,
    source                  text NOT NULL,
    source_date             text NOT NULL,
    confidence              text NOT NULL CHECK (confidence IN ('A', 'B', 'C'))
);

CREATE TABLE servers (
    id              text PRIMARY KEY CHECK (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    vendor_id       text NOT NULL REFERENCES providers,
    name            text NOT NULL,
    gpu_id          text REFERENCES gpus,
    gpu_name        text NOT NULL,
    gpu_count       integer NOT NULL CHECK (gpu_count >= 1),
    cpu             text,
    cpu_count       integer CHECK (cpu_count > 0),
    ram_bytes       bigint CHECK (ram_bytes > 0),
    network_bits_per_second bigint CHECK (network_bits_per_second > 0),
    max_power_watts integer CHECK (max_power_watts > 0),
    rack_units      integer CHECK (rack_units > 0),
    cooling         text,
    note            text,
    source          text NOT NULL,
    source_date     text NOT NULL,
    confidence      text NOT NULL CHECK (confidence IN ('A', 'B', 'C'))
);

-- A price that is not known has no row. Validity is [valid_from, valid_to).
CREATE TABLE prices (
    id           text PRIMARY KEY,
    offer_id     text NOT NULL, -- an instance or a server
    price_type   text NOT NULL CHECK (price_type IN ('on_demand', 'spot', 'reserved', 'subscription', 'purchase')),
    unit         text NOT NULL CHECK (unit IN ('hour', 'month', 'unit')),
    term_months  integer CHECK (term_months > 0), -- reserved and subscription: the time one is bound
    currency     text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    amount_low   numeric(20, 6) NOT NULL CHECK (amount_low > 0),
    amount_high  numeric(20, 6) NOT NULL CHECK (amount_high >= amount_low),
    region       text NOT NULL,
    country      text CHECK (country ~ '^[A-Z]{2}$'),
    tax_included boolean, -- NULL: the source does not say
    observed_date text,   -- when the price was read or dated, YYYY, YYYY-MM or YYYY-MM-DD; NULL: undated
    valid_from   date NOT NULL,
    valid_to     date,
    note         text,
    source       text NOT NULL,
    source_date  text NOT NULL,
    confidence   text NOT NULL CHECK (confidence IN ('A', 'B', 'C')),
    CHECK (valid_to IS NULL OR valid_to > valid_from)
);
CREATE INDEX prices_by_offer ON prices (offer_id);

CREATE TABLE storage (
    id                          text PRIMARY KEY CHECK (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    provider_id                 text REFERENCES providers, -- NULL: hardware one owns
    name                        text NOT NULL,
    media                       text NOT NULL CHECK (media IN ('hdd', 'ssd', 'nvme', 'object', 'parallel_file_system', 'file_system')),
    scope                       text NOT NULL CHECK (scope IN ('device', 'volume', 'cluster', 'region')),
    max_read_bytes_per_second   bigint CHECK (max_read_bytes_per_second > 0),
    max_write_bytes_per_second  bigint CHECK (max_write_bytes_per_second > 0),
    max_iops                    bigint CHECK (max_iops > 0),
    min_bytes                   bigint CHECK (min_bytes > 0),
    max_bytes                   bigint CHECK (max_bytes > 0),
    currency                    text CHECK (currency ~ '^[A-Z]{3}$'),
    price_per_gb_month          numeric(20, 6) CHECK (price_per_gb_month > 0),
    note                        text,
    source                      text NOT NULL,
    source_date                 text NOT NULL,
    CHECK ((currency IS NULL) = (price_per_gb_month IS NULL))
);

CREATE TABLE networks (
    id                        text PRIMARY KEY CHECK (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    technology                text NOT NULL,
    name                      text NOT NULL,
    scope                     text NOT NULL CHECK (scope IN ('gpu', 'slot', 'port', 'node')),
    bits_per_second           bigint NOT NULL CHECK (bits_per_second > 0), -- one way
    note                      text,
    source                    text NOT NULL,
    source_date               text NOT NULL
);

CREATE TABLE fx (
    id          text PRIMARY KEY, -- usd-cny
    base        text NOT NULL CHECK (base ~ '^[A-Z]{3}$'),
    quote       text NOT NULL CHECK (quote ~ '^[A-Z]{3}$'),
    rate        numeric(20, 8) NOT NULL CHECK (rate > 0),
    rate_date   date NOT NULL,
    source      text NOT NULL,
    source_date text NOT NULL
);

CREATE TABLE models (
    id             text PRIMARY KEY CHECK (id ~ '^[a-z0-9]+([.-][a-z0-9]+)*$'),
    name           text NOT NULL,
    name_zh        text,
    publisher      text NOT NULL,
    licence        text NOT NULL CHECK (licence IN ('open', 'open_with_terms', 'non_commercial', 'unknown')),
    source         text NOT NULL,
    source_date    text NOT NULL
);

-- A model's config.json as flat facts: an RFC 6901 path and a value as JSON would write it.
CREATE TABLE model_fields (
    model_id    text NOT NULL REFERENCES models,
    path        text NOT NULL CHECK (path ~ '^/'),
    value       text NOT NULL,
    source      text NOT NULL,
    source_date text NOT NULL,
    PRIMARY KEY (model_id, path)
);

CREATE TABLE model_aliases (
    alias       text PRIMARY KEY, -- lower case
    model_id    text NOT NULL REFERENCES models,
    source      text NOT NULL,
    source_date text NOT NULL
);

-- Measured and cited constants of the estimator. The program refuses a catalog that lacks one it needs.
CREATE TABLE rates (
    name        text PRIMARY KEY CHECK (name ~ '^[a-z0-9_]+(\.[a-z0-9_]+)*$'),
    value       double precision NOT NULL,
    unit        text NOT NULL,
    low         double precision,  -- what other fits and sources gave
    high        double precision,
    note        text,
    source      text NOT NULL,
    source_date text NOT NULL
);
