import { file, origin, type Reader, secret, type Variable } from "../environment/Variable.ts"
import type { Backend } from "./Backend.ts"
import * as LndCheck from "./LndCheck.ts"
import * as LndNode from "./LndNode.ts"
import type { Settings } from "./LndSettings.ts"

/** A text of an odd length, or with anything but hex in it, is a path. */
const macaroon = (name: string) => ({ ...secret(name), wants: "the path of a macaroon, or the macaroon in hex" })

const variables = {
  lndUrl: {
    ...origin,
    name: "LND_REST_URL",
    meaning: "Where lnd's REST interface is (its restlisten); needed with LIGHTNING=lnd",
    wants: "https://host:port; without TLS (no-rest-tls) only on the loopback, such as http://127.0.0.1:8080"
  },
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

const read = ({ optional, neededFor }: Reader): Settings => {
  const needed = <A>(variable: Variable<A>) => neededFor(true, "LIGHTNING=lnd", variable)
  return {
    url: needed(variables.lndUrl),
    certificateFile: optional(variables.lndCertificate),
    receiverMacaroon: needed(variables.lndReceiverMacaroon),
    senderMacaroon: needed(variables.lndSenderMacaroon),
    booksMacaroon: optional(variables.lndBooksMacaroon),
    invoiceSecret: needed(variables.lndInvoiceSecret)
  }
}

export const backend: Backend = {
  name: "lnd",
  variables,
  read: (reader) => {
    const settings = read(reader)
    return {
      name: "lnd",
      at: `lnd at ${settings.url}`,
      invoiceSecret: settings.invoiceSecret,
      settings,
      layer: (network) => LndNode.layer(network, settings),
      check: (network) => LndCheck.check(network, settings)
    }
  }
}
