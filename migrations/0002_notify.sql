-- Every change of the catalog makes a new version, and whoever listens on the channel "catalog" is told which.

CREATE TABLE catalog_versions (
    version bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    note    text
);

-- One version a transaction, however many statements it has. The lock is held until the commit, so that versions
-- appear in the order of their numbers: who has read version n has seen all that came before it. Readers do not wait.
-- Definer: whoever may write a catalog table need not be trusted with the versions.
CREATE FUNCTION catalog_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    made bigint;
BEGIN
    IF coalesce(current_setting('sizer.catalog_version', true), '') = '' THEN
        LOCK TABLE catalog_versions IN EXCLUSIVE MODE;
        INSERT INTO catalog_versions (note) VALUES (TG_TABLE_NAME || ' changed') RETURNING version INTO made;
        PERFORM set_config('sizer.catalog_version', made::text, true);
        PERFORM pg_notify('catalog', made::text);
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION catalog_changed() FROM PUBLIC;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['gpus', 'gpu_aliases', 'providers', 'instances', 'servers', 'prices', 'storage',
                                'networks', 'fx', 'models', 'model_fields', 'model_aliases', 'rates']
    LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I
                        FOR EACH STATEMENT EXECUTE FUNCTION catalog_changed()', name || '_changed', name);
    END LOOP;
END
$$;

INSERT INTO catalog_versions (note) VALUES ('empty catalog');
