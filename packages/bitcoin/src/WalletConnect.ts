import { Option, Redacted, Result, Schema } from "effect"
import * as Nip44 from "./Nip44.ts"
import * as Nostr from "./Nostr.ts"

// Nostr Wallet Connect (NIP-47): a wallet that responds to encrypted requests over relays.

/**
 * The protocol's event kinds: a wallet's capabilities, a request, its response, and a wallet's notification
 * (encrypted by NIP-44).
 */
export const kinds = { info: 13194, request: 23194, response: 23195, notification: 23197 } as const

/** The only supported encryption, as named in the tag `encryption`. */
export const encryption = "nip44_v2"

/**
 * Reasons why a wallet did not fulfill a request. For a started payment, only `PAYMENT_FAILED` means that
 * nothing was paid.
 */
export const ErrorCode = Schema.Literals([
  "RATE_LIMITED",
  "NOT_IMPLEMENTED",
  "INSUFFICIENT_BALANCE",
  "QUOTA_EXCEEDED",
  "RESTRICTED",
  "UNAUTHORIZED",
  "INTERNAL",
  "UNSUPPORTED_ENCRYPTION",
  "PAYMENT_FAILED",
  "NOT_FOUND",
  "OTHER"
])
export type ErrorCode = typeof ErrorCode.Type

/** The content of a request. */
export const Request = Schema.Struct({
  method: Schema.String,
  params: Schema.optionalKey(Schema.NullOr(Schema.Unknown))
})
export interface Request extends Schema.Schema.Type<typeof Request> {}

/** The content of a response. The error code is a plain string, because newer wallets may send unknown codes. */
export const Response = Schema.Struct({
  result_type: Schema.String,
  error: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.optionalKey(Schema.String) }))
  ),
  result: Schema.optionalKey(Schema.NullOr(Schema.Unknown))
})
export interface Response extends Schema.Schema.Type<typeof Response> {}

/** The contents of a connection string: the wallet's relays and key, and the app's secret key. */
export interface Connection {
  /** The wallet's public key, x-only in hex. */
  readonly walletKey: string
  /** One or more `wss:` URLs. `ws:` is accepted on the loopback interface. */
  readonly relays: ReadonlyArray<string>
  /** The app's secret key, 32 bytes in hex. */
  readonly secretKey: Redacted.Redacted
}

/** The text is not a connection string. */
export class ConnectionInvalid extends Schema.TaggedError<ConnectionInvalid>()("ConnectionInvalid", {
  message: Schema.String
}) {}

/** Formats `nostr+walletconnect://<wallet key>?relay=…&secret=…`. The whole string is secret. */
export const format = ({ walletKey, relays, secretKey }: Connection): Redacted.Redacted => {
  const query = [
    ...relays.map((relay) => `relay=${encodeURIComponent(relay)}`),
    `secret=${Redacted.value(secretKey)}`
  ]
  return Redacted.make(`nostr+walletconnect://${walletKey}?${query.join("&")}`, {
    label: "wallet connection"
  })
}

const isRelay = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return false
  return (
    url.protocol === "wss:" ||
    (url.protocol === "ws:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
  )
}

/** Parses a connection string. The error doesn't repeat the string, which contains a secret. */
export const parse = (text: Redacted.Redacted): Result.Result<Connection, ConnectionInvalid> => {
  const refuse = (message: string) => Result.fail(new ConnectionInvalid({ message }))
  const [, walletKey, query] =
    /^nostr\+?walletconnect:(?:\/\/)?([0-9a-f]{64})\/?\?(.*)$/.exec(Redacted.value(text).trim()) ?? []
  if (walletKey === undefined || query === undefined)
    return refuse(
      "A connection string must begin with nostr+walletconnect:// and the wallet's public key, 64 characters of hex"
    )
  const parameters = new URLSearchParams(query)
  const [relays, secret] = [parameters.getAll("relay"), parameters.get("secret") ?? ""]
  if (relays.length === 0 || !relays.every(isRelay))
    return refuse(
      "A connection string must have at least one relay= with a wss:// URL, or with ws:// on the loopback interface"
    )
  if (!Nostr.isSecretKey(secret))
    return refuse("A connection string must have secret= with a secret key, 64 characters of hex")
  return Result.succeed({
    walletKey,
    relays,
    secretKey: Redacted.make(secret, { label: "wallet connection" })
  })
}

/** Returns the value of the event's first tag with this name. */
export const tagOf = ({ tags }: Nostr.Event, name: string): string | undefined =>
  tags.find(([first]) => first === name)?.[1]

/** Returns a request's expiration time, in seconds since 1970; undefined if it has none. */
export const expirationOf = (event: Nostr.Event): number | undefined => {
  const text = tagOf(event, "expiration")
  return text === undefined || !/^\d{1,15}$/.test(text) ? undefined : Number(text)
}

interface Sealing {
  /** The author's secret key. */
  readonly from: Redacted.Redacted
  /** The recipient's public key. */
  readonly to: string
  readonly atSeconds: number
  /** 32 random bytes. */
  readonly nonce: Uint8Array
}

const sealed = (
  kind: number,
  content: unknown,
  { from, to, atSeconds, nonce }: Sealing,
  tags: ReadonlyArray<ReadonlyArray<string>>
) => {
  const key = Nip44.conversationKey(from, to)
  if (key === undefined) return undefined
  const text = Nip44.encrypt(JSON.stringify(content), key, nonce)
  return Nostr.signed({ kind, created_at: atSeconds, tags: [["p", to], ...tags], content: text }, from)
}

/** Builds a request to a wallet. Undefined if the wallet's key is invalid. */
export const request = (content: Request, sealing: Sealing, expiresAtSeconds?: number) =>
  sealed(kinds.request, content, sealing, [
    ["encryption", encryption],
    ...(expiresAtSeconds === undefined ? [] : [["expiration", String(expiresAtSeconds)]])
  ])

/** Builds the response to a request. Undefined if the key of the request's author is invalid. */
export const response = (content: Response, to: Nostr.Event, sealing: Omit<Sealing, "to">) =>
  sealed(kinds.response, content, { ...sealing, to: to.pubkey }, [["e", to.id]])

/** Builds a notification from a wallet. Undefined if the recipient's key is invalid. */
export const notification = (
  content: { readonly notification_type: string; readonly notification: unknown },
  sealing: Sealing
) => sealed(kinds.notification, content, sealing, [])

/** Builds the event that publishes a wallet's capabilities. Anyone can read it. */
export const info = (
  methods: ReadonlyArray<string>,
  notifications: ReadonlyArray<string>,
  atSeconds: number,
  from: Redacted.Redacted
) =>
  Nostr.signed(
    {
      kind: kinds.info,
      created_at: atSeconds,
      tags: [
        ["encryption", encryption],
        ...(notifications.length === 0 ? [] : [["notifications", notifications.join(" ")]])
      ],
      content: [...methods, ...(notifications.length === 0 ? [] : ["notifications"])].join(" ")
    },
    from
  )

/**
 * Decrypts an event's content with `secretKey` and decodes it with `schema`. Returns none if the event is for
 * another recipient or its content doesn't match the schema.
 */
export const open = <A>(
  event: Nostr.Event,
  secretKey: Redacted.Redacted,
  schema: Schema.Codec<A, unknown>
): Option.Option<A> => {
  const key = Nip44.conversationKey(secretKey, event.pubkey)
  const text = key && Nip44.decrypt(event.content, key)
  return text === undefined || Result.isFailure(text)
    ? Option.none()
    : Schema.decodeUnknownOption(Schema.fromJsonString(schema))(text.success)
}
