import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Network from "@satrail/bitcoin/Network"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { type Redacted, Result } from "effect"
import { oneOf, type Reader, secret, type Variable } from "./Variable.ts"

/** Which service it is, and who may operate it. */
export interface Service {
  readonly network: Network.Network
  readonly domain: string
  readonly operatorToken: Redacted.Redacted | undefined
  /** Whether a start opens a company to try the service with. */
  readonly demo: boolean
  readonly nostrKey: Redacted.Redacted | undefined
}

export const identity = {
  network: { name: "SATRAIL_NETWORK", meaning: "The bitcoin network", fallback: "regtest", ...oneOf(...Network.all) },
  domain: {
    name: "SATRAIL_DOMAIN",
    meaning: "The domain of the Lightning addresses that are issued here",
    fallback: "satrail.localhost",
    wants: "a domain name of two or more words",
    read: (text) => Result.getOrUndefined(LightningAddressText.normaliseDomain(text))
  } satisfies Variable<string>
}

const nostrKey = secret("SATRAIL_NOSTR_KEY")

export const operator = {
  operatorToken: {
    ...secret("SATRAIL_OPERATOR_TOKEN", /^[!-~]{32,}$/),
    meaning:
      "Opens the operator's routes, the same in all processes; without one they are closed, but for a service with a demo company, which writes one of its own to demo.json",
    wants: "at least 32 characters without spaces"
  },
  demo: {
    name: "SATRAIL_DEMO",
    meaning:
      "Whether the first start opens a company called Demo, and keeps its key in demo.json, to try the service with. Unless given: yes where nothing is real. Never on mainnet",
    fallback: "",
    ...oneOf("yes", "no")
  },
  nostrKey: {
    ...nostrKey,
    meaning: "Signs the receipts of zaps (NIP-57); without one, Lightning addresses take none",
    wants: "a secret key, 32 bytes in hex",
    read: (text: string) => (Nostr.isSecretKey(text) ? nostrKey.read(text) : undefined)
  }
}

export const read = ({ optional, required }: Reader, isSandbox: boolean): Service => ({
  network: required(identity.network),
  domain: required(identity.domain),
  operatorToken: optional(operator.operatorToken),
  demo: (optional(operator.demo) ?? (isSandbox ? "yes" : "no")) === "yes",
  nostrKey: optional(operator.nostrKey)
})
