import type { Redacted } from "effect"

/** Where lnd is and what opens it. A macaroon is a file's path, or itself in hex. */
export interface Settings {
  readonly url: string
  readonly certificateFile: string | undefined
  readonly receiverMacaroon: Redacted.Redacted
  readonly senderMacaroon: Redacted.Redacted
  /** Without one its books are not read. */
  readonly booksMacaroon?: Redacted.Redacted | undefined
  readonly invoiceSecret: Redacted.Redacted
}
