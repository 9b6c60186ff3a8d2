import { Context, type Effect, Schema } from "effect"

/** No name server responded, so it is unknown whether records exist. */
export class DnsUnavailable extends Schema.TaggedError<DnsUnavailable>()("DnsUnavailable", {
  name: Schema.String
}) {}

/** TXT records from a resolver that validates DNSSEC. */
export interface Validated {
  /** Each record as one string. Empty if there are no records or the name does not exist. */
  readonly texts: ReadonlyArray<string>
  /**
   * True if the resolver validated the signatures of all records, and of the aliases that lead to them, up to
   * the root (the AD bit, RFC 4035).
   */
  readonly isSigned: boolean
}

/** Queries the public DNS. */
export class Dns extends Context.Service<
  Dns,
  {
    /**
     * Returns the TXT records of a name, each as one string (RFC 1035, section 3.3.14). Empty if there are no
     * records or the name does not exist.
     */
    readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnavailable>
    /**
     * Returns the TXT records from a resolver that validates DNSSEC, for lookups that determine where money
     * goes. Fails on an invalid signature, as on any other error, because neither proves that no records exist.
     * Absent if no such resolver is configured.
     */
    readonly validated?: (name: string) => Effect.Effect<Validated, DnsUnavailable>
  }
>()("@satrail/core/base/Dns") {}
