import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Network from "@satrail/bitcoin/Network"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { Result } from "effect"
import * as Setting from "./Setting.ts"

/** Settings for the service's identity. */
export const identity = {
  network: Setting.withDefault({
    name: "SATRAIL_NETWORK",
    meaning: "The bitcoin network",
    fallback: "regtest",
    ...Setting.oneOf(...Network.all)
  }),
  domain: Setting.withDefault({
    name: "SATRAIL_DOMAIN",
    meaning: "The domain of the Lightning addresses issued by this service",
    fallback: "satrail.localhost",
    wants: "a domain name with at least two labels",
    read: (text) => Result.getOrUndefined(LightningAddressText.normaliseDomain(text))
  }),
  publicUrl: Setting.optional({
    name: "SATRAIL_PUBLIC_URL",
    meaning:
      "The URL at which clients reach the service. Links to checkouts, vouchers and errors begin with it. Links to checkouts and vouchers require https:// and a domain name. Default: SATRAIL_DOMAIN, or the listening address if SATRAIL_DOMAIN is not set; links to errors are then paths",
    wants: "a URL such as https://pay.example.com, without a query or a trailing slash",
    read: (text) => {
      const url = /[?#\s]|\/$/.test(text) ? null : URL.parse(text)
      return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
        ? text
        : undefined
    }
  })
}

/**
 * Maximum number of relays on which the service accepts wallet requests. Each response is sent to the relay
 * that delivered its request.
 */
const maxNwcRelays = 5

/** Settings for the operator's access, and for secrets and links. */
export const operator = {
  operatorToken: Setting.optional({
    name: "SATRAIL_OPERATOR_TOKEN",
    meaning:
      "The token for the operator's routes, the same in all processes. Without it, these routes are closed, unless there is a demo company. In that case, a token is generated and written to demo.json",
    ...Setting.secret("at least 32 characters without spaces", (text) => /^[!-~]{32,}$/.test(text))
  }),
  demo: Setting.optional({
    name: "SATRAIL_DEMO",
    meaning:
      "Whether the first start creates a company called Demo and stores its key in demo.json, for evaluation. Default: yes if everything is simulated. Never on mainnet",
    ...Setting.yesOrNo
  }),
  webhookKey: Setting.optional({
    name: "SATRAIL_WEBHOOK_KEY",
    meaning:
      "Encrypts the secrets of webhook endpoints and signs webhooks (Ed25519); the same in all processes. Default: derived from the node's secret. After changing it, rotate the endpoints' secrets",
    ...Setting.secret("at least 32 characters without spaces", (text) => /^[!-~]{32,}$/.test(text))
  }),
  nwcRelays: Setting.optional({
    name: "SATRAIL_NWC_RELAYS",
    meaning:
      "The Nostr relays through which apps connect with Nostr Wallet Connect (NIP-47), separated by commas, the same in all processes. Without relays, apps can't connect. The wallet key is derived from the node's secret",
    wants: `1 to ${maxNwcRelays} wss:// URLs such as wss://relay.example.com, separated by commas (TLS is required: ws:// is not accepted)`,
    read: (text) => {
      const urls = text.split(",").map((one) => URL.parse(one.trim()))
      const relays = urls.flatMap((url) =>
        url?.protocol === "wss:" && url.username === "" && url.password === "" && url.hash === ""
          ? [url.href]
          : []
      )
      return relays.length === urls.length && relays.length <= maxNwcRelays ? [...new Set(relays)] : undefined
    }
  }),
  explorerUrl: Setting.optional({
    name: "SATRAIL_EXPLORER_URL",
    meaning:
      "The block explorer page that checkouts link to for a transaction. Without it, checkouts have no such link",
    wants: "a URL with {txid} in place of the transaction ID, such as https://explorer.example/tx/{txid}",
    read: (text) =>
      text.split("{txid}").length === 2 && /^https?:$/.test(URL.parse(text)?.protocol ?? "")
        ? text
        : undefined
  }),
  nostrKey: Setting.optional({
    name: "SATRAIL_NOSTR_KEY",
    meaning: "Signs zap receipts (NIP-57). Without it, Lightning addresses accept no zaps",
    ...Setting.secret("a secret key, 32 bytes in hex", Nostr.isSecretKey)
  })
}
