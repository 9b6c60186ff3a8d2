import type { Config } from "effect"
import * as Setting from "../environment/Setting.ts"

const needed = Setting.neededWith("LIGHTNING=ldk")

const own = "used only with LDK_PROGRAM"

/** The LDK node's address, and its arguments if the service starts it. */
export const settings = {
  socket: needed({
    name: "LDK_SOCKET",
    meaning: "The Unix socket that satrail-ldk listens on",
    ...Setting.file
  }),
  invoiceSecret: needed({
    name: "LDK_INVOICE_SECRET",
    meaning:
      "Invoice preimages and the key for stored responses are derived from this secret. Never change it, and use the same value in all processes",
    ...Setting.invoiceSecret
  }),
  program: Setting.optional({
    name: "LDK_PROGRAM",
    meaning:
      "The satrail-ldk program. This process starts it if nothing responds at the socket, and restarts it when it exits. Without this setting, start the node yourself",
    ...Setting.file
  }),
  store: Setting.optional({
    name: "LDK_STORE",
    meaning: `The folder with the node's keys and channels, on a local disk; never use a copy of it; ${own}`,
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
    meaning: `The address at which other nodes connect; ${own}`,
    wants: "host:port, such as 0.0.0.0:9735",
    read: (text: string) => (/^\S+:\d{1,5}$/.test(text) ? text : undefined)
  }),
  alias: Setting.optional({
    name: "LDK_ALIAS",
    meaning: `The node's name in the network; channels are announced only with a name; ${own}`,
    wants: "at most 32 characters",
    read: (text: string) => (text.length <= 32 ? text : undefined)
  }),
  mainnet: Setting.optional({
    name: "LDK_MAINNET",
    meaning: `Accepts the risks on mainnet: the channels' keys are on this machine, the store must never be started from a backup, and nothing watches the channels while the node is down. Required on mainnet; ${own}`,
    ...Setting.oneOf("hot-keys-one-machine-no-watchtower")
  }),
  acceptStore: Setting.optional({
    name: "LDK_ACCEPT_STORE",
    meaning: `Accepts an older state of the store by its id, which the error prints; ${own}`,
    wants: "the value in the error",
    read: (text: string) => (/^[\da-f]{32}:\d+$/.test(text) ? text : undefined)
  })
}

export const config = Setting.all(settings)

export interface Settings extends Config.Success<typeof config> {}
