/** A key that a second operator has to approve. */
export const script = `
alter table satrail.api_keys add column approval json, add column approved_by text, add column approved_at_millis bigint,
  add constraint api_keys_approved_by_another check (
    (approved_by is null) = (approved_at_millis is null) and (approved_by is null or approval ->> 'requestedBy' <> approved_by)
  );
`
