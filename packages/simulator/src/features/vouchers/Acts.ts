import type { Customers } from "../../story/Customers.ts"
import { text } from "../../story/Json.ts"
import { type Acts, latest, type Made } from "../../story/Made.ts"
import type { Outsiders } from "../../story/Outsiders.ts"
import { posting, sats } from "../../story/Requests.ts"
import { path } from "./Plot.ts"

/** Returns a voucher's secret from its link. */
export const k1Of = (lnurlw: string): string =>
  new URL(lnurlw.replace(/^lnurlw:/, "https:")).searchParams.get("k1") ?? ""

/** Requests by companies, and claims by voucher holders. */
export const acts = (
  customers: Customers,
  outsiders: Outsiders,
  made: Made
): Acts<"CreateVoucher" | "ClaimVoucher" | "CancelVoucher"> => {
  const post = posting(customers)
  return {
    CreateVoucher: (act) =>
      post(
        act,
        path,
        { ...sats(act.sats), description: "a gift", expiry_seconds: act.expirySeconds },
        (data, bearer) =>
          void made.links.push({
            id: text(data, "id"),
            k1: k1Of(text(data, "lnurlw")),
            sats: act.sats,
            bearer
          })
      ),
    ClaimVoucher: ({ slot, which, into, behaviour }) => {
      const voucher = latest(made.links, which)
      if (voucher === undefined) return
      const { k1, sats } = voucher
      const pr =
        into === "own"
          ? latest(made.invoices, which)
          : outsiders.recipient("lightning_invoice", behaviour, into === "wrong" ? sats + 1 : sats)
      if (pr === undefined) return
      const query = new URLSearchParams({ k1, pr })
      customers.ask({ slot, method: "GET", path: `/lnurlw/callback?${query.toString()}` })
    },
    CancelVoucher: ({ slot, which }) => {
      const voucher = latest(made.links, which)
      if (voucher === undefined) return
      customers.ask({ slot, method: "POST", path: `${path}/${voucher.id}/cancel`, bearer: voucher.bearer })
    }
  }
}
