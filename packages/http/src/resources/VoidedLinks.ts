import { VoidLinks } from "@satrail/core/accounts/VoidLinks"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect, Schema } from "effect"
import * as Errors from "../wire/Errors.ts"

// Requests that revoke a key or remove a person, and can also cancel the links that the key or person created.

export const query = {
  links: Schema.optionalKey(
    Schema.Literal("void").annotate({
      description:
        "`void` also cancels the open vouchers and refund links that the key or person created, and releases their funds"
    })
  )
}

export const members = {
  voided_links: Schema.optionalKey(
    Schema.Int.annotate({ description: "Number of canceled links, if the request has `links=void`" })
  )
}

/** Description of `query` for an endpoint. */
export const rule =
  "Vouchers and refund links of the key or person stay claimable, unless `links=void` is set. Repeating the request cancels those that are still open."

/**
 * Cancels the links if the request asks for it, in every company if `companyId` is null, and returns the response's
 * `members`. Call it after the revocation.
 */
export const make = Effect.map(
  VoidLinks,
  (voidLinks) =>
    (asked: { readonly links?: "void" }, companyId: CompanyId.CompanyId | null, createdBy: string) =>
      asked.links === undefined
        ? Effect.succeed({})
        : Effect.map(Errors.answered(voidLinks(companyId, createdBy)), (voided_links) => ({ voided_links }))
)
