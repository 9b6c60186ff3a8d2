import { useEffect, useRef, useState } from "react"
import { follow } from "./follow.ts"
import type { CheckoutState } from "./State.ts"

/** The address of the service, and a callback for payments. */
export interface CheckoutOptions {
  /** The service's address, such as `https://pay.example.com`. Not used if `id` is the complete `url` of a checkout. */
  readonly service?: string | undefined
  /**
   * Called once when the whole amount is credited. It is only a UI hint. Ship when your server receives
   * `checkout.paid`.
   */
  readonly onPaid?: ((state: CheckoutState) => void) | undefined
}

/** The current state of a checkout. */
export interface CheckoutView {
  /** `loading` before the first state. `missing` if the checkout does not exist. */
  readonly status: CheckoutState["status"] | "loading" | "missing"
  /** Undefined before the first state. */
  readonly state: CheckoutState | undefined
  /** True while the connection is lost. Reconnecting is automatic. */
  readonly isLost: boolean
  /** URL of the checkout page, which offers every way to pay and to claim refunds. */
  readonly url: string
  /** URL of a QR code for paying, or undefined if nothing can be paid now. */
  readonly qr: string | undefined
}

interface Seen {
  readonly url: string
  readonly state: CheckoutState | undefined
  readonly isMissing: boolean
  readonly isLost: boolean
}

const nothing = (url: string): Seen => ({ url, state: undefined, isMissing: false, isLost: false })

const urlOf = (id: string, service: string | undefined): string => {
  const url = /^https?:/.test(id)
    ? id
    : `${(service ?? "").replace(/\/+$/, "")}/pay/${encodeURIComponent(id)}`
  return url.replace(/\/+$/, "")
}

/** Returns the URL of the QR code. The URL changes with the content of the code, so that browsers reload it. */
const qrOf = (url: string, { asking }: CheckoutState): string | undefined =>
  asking === null
    ? undefined
    : `${url}/qr?${new URLSearchParams({ of: (asking.invoice ?? asking.uri).slice(-32) })}`

/**
 * Follows a checkout. `id` is the checkout's `url`, or the last part of the URL together with the option
 * `service`.
 *
 * @example
 * const { status, state } = useCheckout(checkout.url, { onPaid: () => navigate("/thanks") })
 */
export const useCheckout = (id: string, { service, onPaid }: CheckoutOptions = {}): CheckoutView => {
  const url = urlOf(id, service)
  const [seen, setSeen] = useState(() => nothing(url))
  const told = useRef<string>(undefined)
  const handler = useRef(onPaid)
  useEffect(() => {
    handler.current = onPaid
  })

  useEffect(() => {
    const update = (change: Partial<Seen>) =>
      setSeen((before) => ({ ...(before.url === url ? before : nothing(url)), ...change }))
    return follow(url, {
      changed: (state) => {
        update({ state })
        // Call the handler only once, because strict mode runs effects twice.
        if (state.status !== "paid" || told.current === url) return
        told.current = url
        handler.current?.(state)
      },
      missing: () => update({ isMissing: true }),
      lost: (isLost) => update({ isLost })
    })
  }, [url])

  const { state, isMissing, isLost } = seen.url === url ? seen : nothing(url)
  return {
    status: isMissing ? "missing" : (state?.status ?? "loading"),
    state,
    isLost,
    url,
    qr: state && qrOf(url, state)
  }
}
