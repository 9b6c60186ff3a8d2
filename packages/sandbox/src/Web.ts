import * as Msat from "@satrail/bitcoin/Msat"
import type { PayTerms } from "@satrail/core/nodes/Resolver"
import { HashMap, Option } from "effect"
import { Behaviour, type WebEvent } from "./Event.ts"

/** A payee's name on the simulated web, and the behavior of its invoices. */
export interface Name extends PayTerms {
  readonly url: string
  readonly behaviour: Behaviour
  readonly payee: string | null
}

export interface State {
  readonly byUrl: HashMap.HashMap<string, Name>
  readonly byCallback: HashMap.HashMap<string, Name>
  readonly count: number
}

/** Reserved for examples (RFC 2606), so it is not a real domain. */
export const domain = "wallet.example"

/** The amounts that a name accepts. */
export type Range = Pick<PayTerms, "min" | "max">

/** A single amount, or the usual range: 1 sat to 1 BTC. */
export const rangeOf = (amount: Msat.Msat | undefined): Range => ({
  min: amount ?? Msat.fromSats(1),
  max: amount ?? Msat.fromSats(100_000_000n)
})

interface Recipient {
  readonly behaviour: Behaviour
  readonly payee: string | null
  readonly takes: Range
}

/** The Lightning address `handle` at the simulated domain (LUD-16). */
export const lightningAddress = (handle: string, { behaviour, payee, takes }: Recipient): WebEvent => ({
  _tag: "NamePublished",
  url: `https://${domain}/.well-known/lnurlp/${handle}`,
  callback: `https://${domain}/lnurlp/${handle}/callback`,
  metadata: JSON.stringify([
    ["text/plain", `Pay ${handle}`],
    ["text/identifier", `${handle}@${domain}`]
  ]),
  min: takes.min,
  max: takes.max,
  behaviour,
  payee
})

/** A payment page behind an LNURL (LUD-06). */
export const page = (token: string, recipient: Recipient): WebEvent => ({
  ...lightningAddress(token, recipient),
  url: `https://${domain}/lnurl/${token}`,
  callback: `https://${domain}/lnurl/${token}/callback`,
  metadata: JSON.stringify([["text/plain", `Payment ${token}`]])
})

export const apply = (state: State, event: WebEvent): State => {
  const { _tag: _, ...name } = event
  return {
    byUrl: HashMap.set(state.byUrl, name.url, name),
    byCallback: HashMap.set(state.byCallback, name.callback, name),
    count: state.count + 1
  }
}

/** Initially, there is one name for each behavior, such as `settle@wallet.example` and `no-route@wallet.example`. */
export const begin: State = Behaviour.literals
  .map((behaviour) =>
    lightningAddress(behaviour.replaceAll("_", "-"), { behaviour, payee: null, takes: rangeOf(undefined) })
  )
  .reduce(apply, { byUrl: HashMap.empty(), byCallback: HashMap.empty(), count: 0 })

export const atUrl = (state: State, url: string): Name | undefined =>
  Option.getOrUndefined(HashMap.get(state.byUrl, url))
export const atCallback = (state: State, url: string): Name | undefined =>
  Option.getOrUndefined(HashMap.get(state.byCallback, url))
