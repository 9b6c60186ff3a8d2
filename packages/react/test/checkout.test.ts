import { assert, describe, it, vi } from "@effect/vitest"
import type { State } from "@satrail/ui/checkout/State"
import * as Page from "@satrail/ui/checkout/State"
import path from "node:path"
import { createElement } from "react"
import { renderToString } from "react-dom/server"
import { rolldown } from "rolldown"
import { Checkout, type CheckoutState, type CheckoutView, useCheckout } from "../src/index.ts"
import { english, messageOf } from "../src/Checkout.ts"
import { follow } from "../src/follow.ts"
import { isFinal } from "../src/State.ts"

const maxBytes = 10_000

const state: State = {
  status: "open",
  asking: { uri: "bitcoin:bcrt1q?lightning=lnbcrt1", invoice: "lnbcrt1", address: "bcrt1q", sats: 21_000 },
  restSats: 0,
  receivedSats: 0,
  pendingSats: 0,
  confirmations: null,
  overSats: 0,
  isLate: false,
  isRenewable: false,
  questions: null,
  payments: [],
  refunds: [],
  paidAtMillis: null,
  endedAtMillis: null,
  expiresAtMillis: 2,
  nowMillis: 1
}
const refund = { sats: 1, lnurl: null, expiresAtMillis: null }

describe("the React checkout", () => {
  it("react: the service's checkout state matches the declared type, and the package and the service agree on which states are final", () => {
    const states: ReadonlyArray<State> = (
      ["open", "underpaid", "paid", "expired", "canceled"] as const
    ).flatMap((status) =>
      [null, 1].flatMap((paidAtMillis) =>
        [0, 5].flatMap((sats) =>
          [[], [{ ...refund, status: "open" as const }], [{ ...refund, status: "completed" as const }]].map(
            (refunds) => ({
              ...state,
              status,
              paidAtMillis,
              receivedSats: sats,
              overSats: sats,
              refunds
            })
          )
        )
      )
    )
    const seen: ReadonlyArray<CheckoutState> = states
    assert.deepStrictEqual(
      seen.map(isFinal),
      states.map((one) => Page.isOver(one))
    )
  })

  it("react: while part of the amount is pending on-chain, the message is the amount due, not that the payment was detected", () => {
    const shown = (more: Partial<State>) =>
      messageOf(
        {
          status: "open",
          state: { ...state, pendingSats: 6000, ...more },
          isLost: false,
          url: "",
          qr: undefined
        },
        english
      )
    assert.strictEqual(shown({}), "21,000 sats")
    assert.strictEqual(shown({ asking: null }), "Payment detected. Waiting for confirmation.")
  })

  it("react: on the server, the component renders as loading, with attributes for styling and without styles", () => {
    const html = renderToString(
      createElement(Checkout, { id: "https://pay.example.com/pay/abc", className: "box" })
    )
    assert.match(html, /^<section class="box" data-status="loading">/)
    assert.include(html, "Loading…")
    assert.notInclude(html, "style=")
  })

  it("react: an id is a checkout's complete URL or, for a given service, the last part of the URL", () => {
    const seen: Array<CheckoutView> = []
    const Probe = ({ id, service }: { readonly id: string; readonly service?: string }) => {
      seen.push(useCheckout(id, { service }))
      return null
    }
    renderToString(createElement(Probe, { id: "https://pay.example.com/pay/abc" }))
    renderToString(createElement(Probe, { id: "abc", service: "https://pay.example.com/" }))
    const view: CheckoutView = {
      status: "loading",
      state: undefined,
      isLost: false,
      url: "https://pay.example.com/pay/abc",
      qr: undefined
    }
    assert.deepStrictEqual(seen, [view, view])
  })

  it("react: a poll that gets no response ends, and the next one shows the state", async () => {
    const errors: Array<() => void> = []
    class Refused {
      static readonly CLOSED = 2
      readonly readyState = Refused.CLOSED
      addEventListener = (type: string, hear: () => void) => void (type === "error" && errors.push(hear))
      close = () => undefined
    }
    let polls = 0
    const answer = async (_: unknown, { signal }: RequestInit) => {
      if (polls++ > 0) return Response.json(state)
      await new Promise((resolve) => {
        signal?.addEventListener("abort", resolve)
      })
      throw new Error("aborted")
    }
    vi.useFakeTimers()
    vi.stubGlobal("EventSource", Refused)
    vi.stubGlobal("fetch", answer)
    try {
      const seen: Array<CheckoutState | boolean> = []
      const changed = (state: CheckoutState) => void seen.push(state)
      const end = follow("https://pay.example.com/pay/abc", {
        changed,
        missing: assert.fail,
        lost: (isLost) => void seen.push(isLost)
      })
      for (const hear of errors) hear()
      await vi.advanceTimersByTimeAsync(60_000)
      end()
      assert.deepStrictEqual(seen.slice(0, 3), [true, false, state])
    } finally {
      vi.unstubAllGlobals()
      vi.useRealTimers()
    }
  })

  it("react: the package is smaller than 10 kB minified, without React", async () => {
    const input = path.join(path.dirname(import.meta.dirname), "src/index.ts")
    const bundle = await rolldown({ input, platform: "browser", external: ["react"], logLevel: "silent" })
    const { output } = await bundle.generate({ format: "esm", minify: true })
    const [{ code, imports }] = output
    assert.deepStrictEqual(imports, ["react"])
    const bytes = Buffer.byteLength(code)
    console.log(`@satrail/react: ${bytes} bytes minified`)
    assert.isBelow(bytes, maxBytes)
  })
})
