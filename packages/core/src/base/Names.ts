import { Context, type Effect, Schema } from "effect"

/** The name servers gave no answer. Whether there are records is not known. */
export class NamesUnavailable extends Schema.TaggedError<NamesUnavailable>()("NamesUnavailable", { name: Schema.String }) {}

/** What the domain name system says, as everybody may see it. */
export class Names extends Context.Service<
  Names,
  {
    /** The TXT records of a name, each whole (RFC 1035, section 3.3.14). None where there are none, or there is no such name. */
    readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, NamesUnavailable>
  }
>()("@satrail/core/base/Names") {}
