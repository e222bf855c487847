#!/bin/sh
# Brings a database up to date: applies each NNNN_*.sql once and in order, loads the seed files once, and lets the
# service's role read. Connects as the owner; safe to run again, and by several at once.
#
#   DATABASE_URL  connection string of the owner (required)
#   SIZER_ROLE    role of the service, default sizer_service; made without a password when it is missing
set -eu

: "${DATABASE_URL:?is the connection string of the database owner}"
role=${SIZER_ROLE:-sizer_service}
cd "$(dirname "$0")"

# Tables in an order that foreign keys allow.
tables='gpus gpu_aliases providers instances servers prices storage networks fx models model_fields model_aliases rates'
for file in seed/*.csv; do
    table=$(basename "$file" .csv)
    case " $tables " in
    *" $table "*) ;;
    *)
        echo "$0: no table is known for $file" >&2
        exit 1
        ;;
    esac
done

# What follows is written as one psql script and run in one session: that session's advisory lock is what keeps a
# second run waiting, until this one is over or broken.
begin() {
    cat <<'SQL'
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SELECT pg_advisory_lock(hashtext('sizer migrations')) \g /dev/null
CREATE TABLE IF NOT EXISTS schema_migrations (
    name       text PRIMARY KEY,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS seed_loads (
    table_name text PRIMARY KEY,
    sha256     text NOT NULL,
    loaded_at  timestamptz NOT NULL DEFAULT now()
);
SQL
}

# apply FILE: one transaction, and only once.
apply() {
    sum=$(sha256sum "$1")
    sum=${sum%% *}
    cat <<SQL
SELECT count(*) = 0 AS pending, coalesce(bool_and(sha256 = '$sum'), true) AS same
  FROM schema_migrations WHERE name = '$1' \\gset
\\if :pending
  BEGIN;
  \\i $1
  INSERT INTO schema_migrations (name, sha256) VALUES ('$1', '$sum');
  COMMIT;
  \\echo applied $1
\\elif :same
\\else
  DO \$\$ BEGIN RAISE EXCEPTION '$1 was changed after it had been applied: undo that, and add a new migration'; END \$\$;
\\endif
SQL
}

# load TABLE: from its seed file, and only once: what was changed in the database since then stays.
load() {
    sum=$(sha256sum "seed/$1.csv")
    sum=${sum%% *}
    columns=$(head -n 1 "seed/$1.csv" | tr -d '\r')
    cat <<SQL
SELECT count(*) = 0 AS pending, coalesce(bool_and(sha256 = '$sum'), true) AS same
  FROM seed_loads WHERE table_name = '$1' \\gset
\\if :pending
  \\copy $1 ($columns) FROM 'seed/$1.csv' WITH (FORMAT csv, HEADER match)
  INSERT INTO seed_loads (table_name, sha256) VALUES ('$1', '$sum');
  \\echo loading seed/$1.csv
\\elif :same
\\else
  \\warn seed/$1.csv was changed after it had been loaded: its table is left as it is
\\endif
SQL
}

grant() {
    cat <<'SQL'
SELECT set_config('sizer.role', :'role', false) \g /dev/null
DO $$
DECLARE
    role text := current_setting('sizer.role');
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
        EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT', role);
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), role);
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    RAISE EXCEPTION 'role % was being made for another database of this server: run this again', role;
END
$$;
SQL
}

# Written whole before any of it runs.
script=$(
    begin
    for file in [0-9][0-9][0-9][0-9]_*.sql; do
        apply "$file"
    done
    echo 'BEGIN;' # all seeds or none, and one version of the catalog
    for table in $tables; do
        [ ! -f "seed/$table.csv" ] || load "$table"
    done
    echo 'COMMIT;'
    grant
)
printf '%s\n' "$script" | psql --no-psqlrc --quiet --set role="$role" --file - "$DATABASE_URL"
