/** Time at which the chain shows that a deposit had been paid, if that is before it was first seen. */
export const script = "alter table satrail.deposits add column paid_at_millis bigint"
