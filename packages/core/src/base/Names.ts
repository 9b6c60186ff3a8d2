import { Context, type Effect, Schema } from "effect"

/** The name servers gave no answer. Whether there are records is not known. */
export class NamesUnavailable extends Schema.TaggedError<NamesUnavailable>()("NamesUnavailable", { name: Schema.String }) {}

/** TXT records from a resolver that validates DNSSEC. */
export interface Validated {
  /** Each whole. None where there are none, or there is no such name. */
  readonly texts: ReadonlyArray<string>
  /** Whether all of them, and the aliases that lead to them, are signed, from the root down: the resolver's word for it (the AD bit, RFC 4035). */
  readonly isSigned: boolean
}

/** What the domain name system says, as everybody may see it. */
export class Names extends Context.Service<
  Names,
  {
    /** The TXT records of a name, each whole (RFC 1035, section 3.3.14). None where there are none, or there is no such name. */
    readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, NamesUnavailable>
    /**
     * The same by a resolver that validates DNSSEC, for what money depends on. Records that are signed wrongly are no answer, as is every error: neither
     * says that there are none. Absent where no such resolver is used.
     */
    readonly validated?: (name: string) => Effect.Effect<Validated, NamesUnavailable>
  }
>()("@satrail/core/base/Names") {}
