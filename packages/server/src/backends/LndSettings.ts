import type { Config } from "effect"
import * as Setting from "../environment/Setting.ts"

const needed = Setting.neededWith("LIGHTNING=lnd")

/** A string that has an odd length or non-hex characters is a path. */
const macaroon = Setting.secret("the path of a macaroon, or the macaroon in hex")

export const settings = {
  url: needed({
    name: "LND_REST_URL",
    meaning: "The address of lnd's REST interface (restlisten in lnd.conf)",
    ...Setting.origin(
      "https://host:port; without TLS (no-rest-tls) only on the loopback interface, such as http://127.0.0.1:8080"
    )
  }),
  certificateFile: Setting.optional({
    name: "LND_TLS_CERT",
    meaning: "lnd's tls.cert. Without it, lnd's certificate must be signed by a trusted CA",
    ...Setting.file
  }),
  receiverMacaroon: needed({
    name: "LND_RECEIVER_MACAROON",
    meaning: "Permits receiving payments, and nothing else",
    ...macaroon
  }),
  senderMacaroon: needed({
    name: "LND_SENDER_MACAROON",
    meaning: "Permits sending payments, and nothing else",
    ...macaroon
  }),
  booksMacaroon: Setting.optional({
    name: "LND_BOOKS_MACAROON",
    meaning:
      "Permits reading lnd's payments and balances, and nothing else. Without it, the service can't reconcile with lnd",
    ...macaroon
  }),
  invoiceSecret: needed({
    name: "LND_INVOICE_SECRET",
    meaning:
      "Invoice preimages and the key for stored responses are derived from this secret. Never change it, and use the same value in all processes",
    ...Setting.invoiceSecret
  }),
  acceptVersion: Setting.acceptVersion("LND_ACCEPT_VERSION", "lnd")
}

export const config = Setting.all(settings)

export interface Settings extends Config.Success<typeof config> {}
