import { Schema } from "effect"
import * as Http from "@satrail/features/checkouts/http/Checkouts"
import { made } from "../Sharing.ts"
import * as Checkout from "@satrail/features/checkouts/core/Checkout"
import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"
import {
  anyAmount,
  company,
  fields,
  idempotencyKey,
  ids,
  listOf,
  maybe,
  metadata,
  named,
  number,
  period,
  text
} from "../Fields.ts"

export const { CheckoutNotOpen } = classes

/** The URL of a checkout's page, which is added to responses. */
export type Derived<T> =
  T extends Pick<Checkout.Checkout, "domain" | "publicId"> ? { readonly url: string } : unknown

const derived = ({ domain, publicId }: { readonly domain?: unknown; readonly publicId?: unknown }): object =>
  typeof domain === "string" && typeof publicId === "string"
    ? { url: Checkout.urlOf({ domain, publicId }) }
    : {}
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
        locale: null,
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
const publicId = named("publicId", text)
export const parameters = {
  checkouts: {
    create: [
      fields({
        company,
        amount: anyAmount,
        ...maybe({
          cancelUrl: text,
          color: text,
          contact: text,
          description: text,
          embedOrigin: text,
          expirySeconds: number
        }),
        idempotencyKey,
        ...maybe({ locale: text, metadata, options: Schema.Array(Checkout.Option), orderId: text }),
        ...maybe({ returnUrl: text, tolerancePercent: number })
      })
    ],
    get: ids,
    open: [publicId],
    renew: [publicId],
    answer: [publicId, fields({ email: Schema.NullOr(text), tipPercent: number })],
    list: [company, listOf({ ...period, orderId: text, status: Checkout.Status })],
    cancel: ids,
    step: []
  }
} as const
/** These take the core's record of a checkout. */
export const hidden = { checkouts: ["depth", "deposits"] } as const
export const inMsat = { "checkouts.deposits": true, "checkouts.depth": true } as const

export const views = { checkouts: { ...made(Http.view.of), cancel: Http.view.of } } as const
