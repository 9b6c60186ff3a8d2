import type { Redacted } from "effect"
import { file, oneOf, type Reader, secret, type Variable } from "./Variable.ts"

/** Where lnd is and what opens it. A macaroon is a file's path, or itself in hex. */
export interface Lnd {
  readonly url: string
  readonly certificateFile: string | undefined
  readonly receiverMacaroon: Redacted.Redacted
  readonly senderMacaroon: Redacted.Redacted
  /** Without one its books are not read. */
  readonly booksMacaroon?: Redacted.Redacted | undefined
  readonly invoiceSecret: Redacted.Redacted
}

/** The Lightning node. */
export interface Lightning {
  readonly lightning: "sandbox" | "lnd"
  /** What a real node needs, where `lightning` asks for one. */
  readonly lnd: Lnd | undefined
}

/** A text of an odd length, or with anything but hex in it, is a path. */
const macaroon = (name: string) => ({ ...secret(name), wants: "the path of a macaroon, or the macaroon in hex" })

export const variables = {
  lightning: {
    name: "LIGHTNING",
    meaning: "The Lightning node; sandbox is a pretend one, for trying and testing",
    fallback: "sandbox",
    ...oneOf("sandbox", "lnd")
  },
  lndUrl: {
    name: "LND_REST_URL",
    meaning: "Where lnd's REST interface is (its restlisten); needed with LIGHTNING=lnd",
    fallback: "",
    wants: "https://host:port; without TLS (no-rest-tls) only on the loopback, such as http://127.0.0.1:8080",
    read: (text) => {
      const url = URL.parse(text)
      const isPlain = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
      return (url?.protocol === "https:" || isPlain) && url?.pathname === "/" && url.username === "" ? url.origin : undefined
    }
  } satisfies Variable<string>,
  lndCertificate: {
    ...file,
    name: "LND_TLS_CERT",
    meaning: "lnd's tls.cert; without one its certificate must be signed by a known authority"
  },
  lndReceiverMacaroon: {
    ...macaroon("LND_RECEIVER_MACAROON"),
    meaning: "What lets us take payments, and nothing else; needed with LIGHTNING=lnd"
  },
  lndSenderMacaroon: {
    ...macaroon("LND_SENDER_MACAROON"),
    meaning: "What lets us pay, and nothing else; needed with LIGHTNING=lnd"
  },
  lndBooksMacaroon: {
    ...macaroon("LND_BOOKS_MACAROON"),
    meaning: "What lets us read lnd's books, and nothing else; without one they are not compared with ours"
  },
  lndInvoiceSecret: {
    ...secret("LND_INVOICE_SECRET", /^[!-~]{32,}$/),
    meaning:
      "What the preimages of our invoices and the key that seals stored answers are derived from; the same for ever and in all processes, and needed with LIGHTNING=lnd",
    wants: "at least 32 characters without spaces, such as `openssl rand -hex 32` prints"
  }
}

export const read = ({ optional, required, neededFor }: Reader): Lightning => {
  const lightning = required(variables.lightning)
  const isLnd = lightning === "lnd"
  const needed = <A>(variable: Variable<A>) => neededFor(isLnd, "LIGHTNING=lnd", variable)
  const lnd = {
    url: needed(variables.lndUrl),
    certificateFile: optional(variables.lndCertificate),
    receiverMacaroon: needed(variables.lndReceiverMacaroon),
    senderMacaroon: needed(variables.lndSenderMacaroon),
    booksMacaroon: optional(variables.lndBooksMacaroon),
    invoiceSecret: needed(variables.lndInvoiceSecret)
  }
  return { lightning, lnd: isLnd ? lnd : undefined }
}
