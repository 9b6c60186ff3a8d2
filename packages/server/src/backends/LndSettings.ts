import type { Config } from "effect"
import * as Setting from "../environment/Setting.ts"

const needed = Setting.neededWith("LIGHTNING=lnd")

/** A text of an odd length, or with anything but hex in it, is a path. */
const macaroon = Setting.secret("the path of a macaroon, or the macaroon in hex")

/** Where lnd is and what opens it. */
export const settings = {
  url: needed({
    name: "LND_REST_URL",
    meaning: "Where lnd's REST interface is (its restlisten)",
    ...Setting.origin("https://host:port; without TLS (no-rest-tls) only on the loopback, such as http://127.0.0.1:8080")
  }),
  certificateFile: Setting.optional({
    name: "LND_TLS_CERT",
    meaning: "lnd's tls.cert; without one its certificate must be signed by a known authority",
    ...Setting.file
  }),
  receiverMacaroon: needed({
    name: "LND_RECEIVER_MACAROON",
    meaning: "Permits receiving payments, and nothing else",
    ...macaroon
  }),
  senderMacaroon: needed({ name: "LND_SENDER_MACAROON", meaning: "Permits sending payments, and nothing else", ...macaroon }),
  booksMacaroon: Setting.optional({
    name: "LND_BOOKS_MACAROON",
    meaning: "Permits reading lnd's payments and balances, and nothing else; without one there is no reconciliation with lnd",
    ...macaroon
  }),
  invoiceSecret: needed({
    name: "LND_INVOICE_SECRET",
    meaning:
      "The secret from which the preimages of invoices and the key of stored responses are derived; never change it, and use the same in all processes",
    ...Setting.invoiceSecret
  }),
  acceptVersion: Setting.acceptVersion("LND_ACCEPT_VERSION", "lnd")
}

export const config = Setting.all(settings)

export interface Settings extends Config.Success<typeof config> {}
