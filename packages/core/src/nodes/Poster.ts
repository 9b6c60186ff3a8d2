import { Context, Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"

/** Timeouts of a request and of its connection. */
export const attemptMillis = 15_000
export const connectMillis = 5_000

/** Number of characters of a response that are stored. */
export const keptCharacters = 1000

/** Result of a request. `body` is the start of the response. */
export type Posted =
  | {
      readonly _tag: "Answered"
      readonly status: number
      readonly body: string
      readonly retryAfter: string | null
    }
  | { readonly _tag: "Unanswered"; readonly reason: string }

/** Posts to servers specified by companies. Follows no redirects, and connects only to public servers. */
export interface Poster {
  /**
   * Posts a request of a company. Never fails, because every failure is a `Posted`. Ends within `attemptMillis`,
   * not counting the time until the request starts, because too many others are in progress. This wait can be
   * interrupted, even in an uninterruptible region.
   */
  readonly post: (ask: {
    readonly companyId: CompanyId
    readonly url: string
    /** Called when the request starts, because a signature expires and other requests may delay it by minutes. */
    readonly headers: () => Readonly<Record<string, string>>
    readonly body: string
  }) => Effect.Effect<Posted>
  /**
   * Returns why a URL is not allowed, as far as can be determined without a request; undefined if it is
   * allowed.
   */
  readonly issue: (url: string) => string | undefined
  /**
   * The time of the receivers, which refuse a request signed at another time. Absent if it is the time of this
   * program. A sandbox can be ahead of its receivers.
   */
  readonly nowMillis?: () => number
}

const none = "This program sends no webhooks"

/** A host program that provides no poster sends no webhooks, and no endpoint can be created. */
export const Poster = Context.Reference<Poster>("@satrail/core/nodes/Poster", {
  defaultValue: () => ({
    post: () => Effect.succeed({ _tag: "Unanswered", reason: none }),
    issue: () => none
  })
})
