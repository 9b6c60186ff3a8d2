import { ErrorCode } from "@satrail/bitcoin/WalletConnect"
import type * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Option, Schema } from "effect"
import type { Holder } from "../../accounts/ApiKey.ts"

/** What an app is answered in place of a result. `message` is for people, and says nothing that the key may not read. */
export class WalletRefused extends Schema.TaggedError<WalletRefused>()("WalletRefused", { code: ErrorCode, message: Schema.String }) {}

export const refuse = (code: ErrorCode, message: string) => new WalletRefused({ code, message })

/** A request of an app that was let in: by which key, and what it says. */
export interface Call {
  readonly holder: Holder
  readonly event: Nostr.Event
  readonly params: unknown
}

/** The parameters of a request, read by `schema`. */
export const paramsOf = <A>({ params }: Call, schema: Schema.Codec<A, unknown>): Effect.Effect<A, WalletRefused> =>
  Option.match(Schema.decodeUnknownOption(schema)(params ?? {}), {
    onNone: () => Effect.fail(refuse("OTHER", "The parameters are not those of the method")),
    onSome: Effect.succeed
  })
