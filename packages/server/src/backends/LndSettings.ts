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
    meaning: "What lets us take payments, and nothing else",
    ...macaroon
  }),
  senderMacaroon: needed({ name: "LND_SENDER_MACAROON", meaning: "What lets us pay, and nothing else", ...macaroon }),
  booksMacaroon: Setting.optional({
    name: "LND_BOOKS_MACAROON",
    meaning: "What lets us read lnd's books, and nothing else; without one they are not compared with ours",
    ...macaroon
  }),
  invoiceSecret: needed({
    name: "LND_INVOICE_SECRET",
    meaning:
      "What the preimages of our invoices and the key that seals stored answers are derived from; the same for ever and in all processes",
    ...Setting.invoiceSecret
  })
}

export const config = Setting.all(settings)

export interface Settings extends Config.Success<typeof config> {}
