import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Context, type Effect, Redacted, Schema, type Scope } from "effect"
import { curve } from "./Curve.ts"

const hex = (characters: number) => Schema.String.check(Schema.isPattern(new RegExp(`^[0-9a-f]{${characters}}$`)))

/** A Nostr event: its content, author and time (NIP-01). */
export const Event = Schema.Struct({
  id: hex(64),
  pubkey: hex(64),
  /** In seconds since 1970. */
  created_at: Schema.Int,
  kind: Schema.Int,
  tags: Schema.Array(Schema.Array(Schema.String)),
  content: Schema.String,
  sig: hex(128)
})
export interface Event extends Schema.Schema.Type<typeof Event> {}

/** A relay could not be reached, or did not say in time whether it took an event. It may have. */
export class RelayUnreachable extends Schema.TaggedError<RelayUnreachable>()("RelayUnreachable", {
  relay: Schema.String,
  cause: Schema.Defect()
}) {}

/** Servers that store events for any reader. */
export class Relays extends Context.Service<
  Relays,
  {
    /** Offers an event to the relay at a `wss:` URL: whether it took it, now or before. Offering it again changes nothing. */
    readonly publish: (relay: string, event: Event) => Effect.Effect<"taken" | "refused", RelayUnreachable>
  }
>()("@satrail/bitcoin/Nostr/Relays") {}

/** Which events are wanted: of these kinds, to this public key (its tag `p`), by this author where one is named, of this second or later. */
export interface Filter {
  readonly kinds: ReadonlyArray<number>
  readonly to: string
  readonly by?: string
  readonly sinceSeconds: number
}

/** A connection to a relay that stays open. */
export interface Session {
  /** Offers an event: whether the relay took it, now or before. */
  readonly publish: (event: Event) => Effect.Effect<"taken" | "refused", RelayUnreachable>
  /** The next event, as the relay sends it: whether it is what was asked for, and its author's, is not known. Fails once the connection has ended. */
  readonly next: Effect.Effect<Event, RelayUnreachable>
}

/** Relays that are listened to. */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** A connection to the relay at a `wss:` URL that listens, for as long as the scope is open. What is not fetched by `next` is not read from the relay. */
    readonly open: (relay: string, filter: Filter) => Effect.Effect<Session, RelayUnreachable, Scope.Scope>
  }
>()("@satrail/bitcoin/Nostr/Sessions") {}

/**
 * The service's own key on Nostr, 32 bytes in hex. With one, Lightning addresses take zaps, and `Zaps.layerWorker` has to run somewhere.
 * Undefined: they take none.
 */
export const SecretKey = Context.Reference<Redacted.Redacted | undefined>("@satrail/bitcoin/Nostr/SecretKey", {
  defaultValue: () => undefined
})

type Unsigned = Omit<Event, "id" | "sig">

const idOf = ({ pubkey, created_at, kind, tags, content }: Unsigned): Uint8Array =>
  sha256(new TextEncoder().encode(JSON.stringify([0, pubkey, created_at, kind, tags, content])))

/** Whether the event is its author's: its id is the hash of what it says, and the signature is over that. */
export const isGenuine = (event: Event): boolean => {
  const id = idOf(event)
  try {
    return bytesToHex(id) === event.id && curve.verifySchnorr(id, hexToBytes(event.pubkey), hexToBytes(event.sig))
  } catch {
    return false
  }
}

/** Whether a text can be a secret key: 32 bytes in hex, within the order of the curve. */
export const isSecretKey = (text: string): boolean => /^[0-9a-f]{64}$/.test(text) && curve.isSecretKey(hexToBytes(text))

/** The public key that belongs to a secret one, x-only in hex (BIP 340). */
export const publicKeyOf = (secretKey: Redacted.Redacted): string => bytesToHex(curve.xOnly(hexToBytes(Redacted.value(secretKey))))

/** Signs: the same event and key are the same bytes every time. */
export const signed = (event: Omit<Unsigned, "pubkey">, secretKey: Redacted.Redacted): Event => {
  const unsigned = { ...event, pubkey: publicKeyOf(secretKey) }
  const id = idOf(unsigned)
  return {
    ...unsigned,
    id: bytesToHex(id),
    sig: bytesToHex(curve.signSchnorr(id, hexToBytes(Redacted.value(secretKey))))
  }
}
