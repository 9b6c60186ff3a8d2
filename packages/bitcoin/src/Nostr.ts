import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Context, type Effect, Redacted, Schema, type Scope } from "effect"
import { curve } from "./Curve.ts"

const hex = (characters: number) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^[0-9a-f]{${characters}}$`)))

/** A signed Nostr event (NIP-01). */
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

/** A relay was unreachable, or did not confirm in time that it stored an event. The event may have been stored. */
export class RelayUnreachable extends Schema.TaggedError<RelayUnreachable>()("RelayUnreachable", {
  relay: Schema.String,
  cause: Schema.Defect()
}) {}

/** Relays: servers that store events, which anyone can read. */
export class Relays extends Context.Service<
  Relays,
  {
    /**
     * Publishes an event to the relay at a `wss:` URL. Returns whether the relay accepted the event, now or
     * earlier. Publishing the same event again has no effect.
     */
    readonly publish: (relay: string, event: Event) => Effect.Effect<"taken" | "refused", RelayUnreachable>
  }
>()("@satrail/bitcoin/Nostr/Relays") {}

/**
 * Selects events of these kinds that are addressed to this public key (tag `p`) and were created at or after
 * this time. If `by` is set, selects only that author's events.
 */
export interface Filter {
  readonly kinds: ReadonlyArray<number>
  readonly to: string
  readonly by?: string
  readonly sinceSeconds: number
}

/** An open connection to a relay. */
export interface Session {
  /** Publishes an event. Returns whether the relay accepted it, now or earlier. */
  readonly publish: (event: Event) => Effect.Effect<"taken" | "refused", RelayUnreachable>
  /**
   * Returns the next event as the relay sent it. The caller must check that it matches the filter and that its
   * signature is valid. Fails once the connection has ended.
   */
  readonly next: Effect.Effect<Event, RelayUnreachable>
}

/** Subscriptions to relays. */
export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Opens a subscription at the relay with a `wss:` URL. It stays open until the scope closes. Events are
     * read from the relay only when `next` requests them.
     */
    readonly open: (relay: string, filter: Filter) => Effect.Effect<Session, RelayUnreachable, Scope.Scope>
  }
>()("@satrail/bitcoin/Nostr/Sessions") {}

/**
 * The service's key on Nostr, 32 bytes in hex. If set, Lightning addresses accept zaps, and a process must run
 * `Zaps.layerWorker`.
 */
export const SecretKey = Context.Reference<Redacted.Redacted | undefined>(
  "@satrail/bitcoin/Nostr/SecretKey",
  {
    defaultValue: () => undefined
  }
)

type Unsigned = Omit<Event, "id" | "sig">

const idOf = ({ pubkey, created_at, kind, tags, content }: Unsigned): Uint8Array =>
  sha256(new TextEncoder().encode(JSON.stringify([0, pubkey, created_at, kind, tags, content])))

/**
 * Returns whether the event is authentic: its id is the hash of its contents, and the signature is over the
 * id.
 */
export const isGenuine = (event: Event): boolean => {
  const id = idOf(event)
  try {
    return (
      bytesToHex(id) === event.id && curve.verifySchnorr(id, hexToBytes(event.pubkey), hexToBytes(event.sig))
    )
  } catch {
    return false
  }
}

/** Returns whether a string is a valid secret key: 32 bytes in hex, within the order of the curve. */
export const isSecretKey = (text: string): boolean =>
  /^[0-9a-f]{64}$/.test(text) && curve.isSecretKey(hexToBytes(text))

/** Returns the public key of a secret key, x-only in hex (BIP 340). */
export const publicKeyOf = (secretKey: Redacted.Redacted): string =>
  bytesToHex(curve.xOnly(hexToBytes(Redacted.value(secretKey))))

/** Signs an event. The same event and key always give the same bytes. */
export const signed = (event: Omit<Unsigned, "pubkey">, secretKey: Redacted.Redacted): Event => {
  const unsigned = { ...event, pubkey: publicKeyOf(secretKey) }
  const id = idOf(unsigned)
  return {
    ...unsigned,
    id: bytesToHex(id),
    sig: bytesToHex(curve.signSchnorr(id, hexToBytes(Redacted.value(secretKey))))
  }
}
