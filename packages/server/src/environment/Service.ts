import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Network from "@satrail/bitcoin/Network"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { Result } from "effect"
import * as Setting from "./Setting.ts"

/** Which service it is. */
export const identity = {
  network: Setting.withDefault({
    name: "SATRAIL_NETWORK",
    meaning: "The bitcoin network",
    fallback: "regtest",
    ...Setting.oneOf(...Network.all)
  }),
  domain: Setting.withDefault({
    name: "SATRAIL_DOMAIN",
    meaning: "The domain of the Lightning addresses that are issued here",
    fallback: "satrail.localhost",
    wants: "a domain name of two or more words",
    read: (text) => Result.getOrUndefined(LightningAddressText.normaliseDomain(text))
  }),
  publicUrl: Setting.optional({
    name: "SATRAIL_PUBLIC_URL",
    meaning:
      "Where clients reach the service: links of checkouts, vouchers and errors begin with it (those of checkouts and vouchers where it is https:// and a domain). Without it they lead to the domain, or, where none is set either, to where requests are taken; an error's is a path",
    wants: "a URL such as https://pay.example.com, without a query or a slash at its end",
    read: (text) => {
      const url = /[?#\s]|\/$/.test(text) ? null : URL.parse(text)
      return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? text : undefined
    }
  })
}

/** At how many relays a service listens as a wallet: each answer goes where its request came from. */
const maxNwcRelays = 5

/** Who may operate it. */
export const operator = {
  operatorToken: Setting.optional({
    name: "SATRAIL_OPERATOR_TOKEN",
    meaning:
      "The token of the operator's routes, the same in all processes; without one they are closed, except with a demo company, for which one is generated and written to demo.json",
    ...Setting.secret("at least 32 characters without spaces", (text) => /^[!-~]{32,}$/.test(text))
  }),
  demo: Setting.optional({
    name: "SATRAIL_DEMO",
    meaning:
      "Whether the first start opens a company called Demo, and stores its key in demo.json, for evaluation. Default: yes where everything is simulated. Never on mainnet",
    ...Setting.yesOrNo
  }),
  webhookKey: Setting.optional({
    name: "SATRAIL_WEBHOOK_KEY",
    meaning:
      "Encrypts the secrets of webhook endpoints and signs webhooks (Ed25519), the same in all processes; without one, a key that follows from the node's. Under another one, the secrets have to be rotated",
    ...Setting.secret("at least 32 characters without spaces", (text) => /^[!-~]{32,}$/.test(text))
  }),
  nwcRelays: Setting.optional({
    name: "SATRAIL_NWC_RELAYS",
    meaning:
      "The Nostr relays at which apps reach this service by Nostr Wallet Connect (NIP-47), separated by commas, the same in all processes; without one it is no wallet for apps. Its key as a wallet follows from the node's",
    wants: `1 to ${maxNwcRelays} wss:// URLs such as wss://relay.example.com, separated by commas (TLS is required: ws:// is not accepted)`,
    read: (text) => {
      const urls = text.split(",").map((one) => URL.parse(one.trim()))
      const relays = urls.flatMap((url) =>
        url?.protocol === "wss:" && url.username === "" && url.password === "" && url.hash === "" ? [url.href] : []
      )
      return relays.length === urls.length && relays.length <= maxNwcRelays ? [...new Set(relays)] : undefined
    }
  }),
  nostrKey: Setting.optional({
    name: "SATRAIL_NOSTR_KEY",
    meaning: "Signs the receipts of zaps (NIP-57); without one, Lightning addresses take none",
    ...Setting.secret("a secret key, 32 bytes in hex", Nostr.isSecretKey)
  })
}
