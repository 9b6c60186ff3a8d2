import type { Config } from "effect"
import * as Setting from "../environment/Setting.ts"

const needed = Setting.neededWith("LIGHTNING=ldk")

const own = "given to the node that LDK_PROGRAM starts"

/** Where the LDK node is, and what it is started with where the service does that. */
export const settings = {
  socket: needed({ name: "LDK_SOCKET", meaning: "The Unix socket at which satrail-ldk takes requests", ...Setting.file }),
  invoiceSecret: needed({
    name: "LDK_INVOICE_SECRET",
    meaning:
      "The secret from which the preimages of invoices and the key of stored responses are derived; never change it, and use the same in all processes",
    ...Setting.invoiceSecret
  }),
  program: Setting.optional({
    name: "LDK_PROGRAM",
    meaning:
      "satrail-ldk: this process starts it where nothing answers at the socket, and again when it ends; without it, it is started by somebody else",
    ...Setting.file
  }),
  store: Setting.optional({
    name: "LDK_STORE",
    meaning: `The folder with the keys and the channels of the node, on a disk of this machine, never a copy; ${own}`,
    ...Setting.file
  }),
  bitcoind: Setting.optional({
    name: "LDK_BITCOIND",
    meaning: `The bitcoind that the node follows; ${own}`,
    ...Setting.secret("http://user:password@host:port")
  }),
  esplora: Setting.optional({
    name: "LDK_ESPLORA",
    meaning: `The Esplora server that the node follows, in place of a bitcoind; ${own}`,
    wants: "an address such as https://blockstream.info/api",
    read: (text: string) => (URL.canParse(text) ? text : undefined)
  }),
  listen: Setting.optional({
    name: "LDK_LISTEN",
    meaning: `Where other nodes find it; ${own}`,
    wants: "host:port, such as 0.0.0.0:9735",
    read: (text: string) => (/^\S+:\d{1,5}$/.test(text) ? text : undefined)
  }),
  alias: Setting.optional({
    name: "LDK_ALIAS",
    meaning: `What the network calls it; channels can be announced only with a name; ${own}`,
    wants: "at most 32 characters",
    read: (text: string) => (text.length <= 32 ? text : undefined)
  }),
  mainnet: Setting.optional({
    name: "LDK_MAINNET",
    meaning: `That the keys of the channels are on this machine, that its store must never be started from a backup, and that nobody watches the channels while it is down, is accepted; on mainnet it does not start without; ${own}`,
    ...Setting.oneOf("hot-keys-one-machine-no-watchtower")
  }),
  acceptStore: Setting.optional({
    name: "LDK_ACCEPT_STORE",
    meaning: `The one older state of the store that is started all the same, as the refusal names it; ${own}`,
    wants: "what the refusal says",
    read: (text: string) => (/^[\da-f]{32}:\d+$/.test(text) ? text : undefined)
  })
}

export const config = Setting.all(settings)

export interface Settings extends Config.Success<typeof config> {}
