import * as Http from "@satrail/http/features/checkouts/Checkouts"
import { made } from "../Sharing.ts"
import * as Checkout from "@satrail/core/features/checkouts/Checkout"
import { classes } from "../Errors.ts"
import { listed, page } from "../Pages.ts"

export const { CheckoutNotOpen } = classes

/** The URL of a checkout's page, which is added to responses. */
export type Derived<T> = T extends Pick<Checkout.Checkout, "domain" | "publicId"> ? { readonly url: string } : unknown

const derived = ({ domain, publicId }: { readonly domain?: unknown; readonly publicId?: unknown }): object =>
  typeof domain === "string" && typeof publicId === "string" ? { url: Checkout.urlOf({ domain, publicId }) } : {}
export const deriving = { checkouts: derived }

export const defaults = {
  checkouts: {
    create: [
      {
        asked: null,
        cancelUrl: null,
        color: null,
        contact: null,
        description: "",
        embedOrigin: null,
        expirySeconds: Checkout.expirySeconds.default,
        locale: "en",
        metadata: {},
        options: [],
        orderId: null,
        returnUrl: null,
        tolerancePercent: Checkout.tolerancePercent.default
      }
    ],
    list: [undefined, page]
  }
} as const
export const options = {
  checkouts: {
    create: [
      "amount cancelUrl color company contact description embedOrigin expirySeconds idempotencyKey locale metadata options orderId returnUrl tolerancePercent"
    ],
    list: [undefined, listed],
    depth: ["*"],
    deposits: ["*"],
    answer: [undefined, "email tipPercent"]
  }
} as const
export const inMsat = { "checkouts.deposits": true, "checkouts.depth": true } as const

export const views = { checkouts: { ...made(Http.view.of), cancel: Http.view.of } } as const
