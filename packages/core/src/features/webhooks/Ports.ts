import { Context, Effect } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import type { Render } from "../../events/Feed.ts"
import type { Place } from "../../events/Notice.ts"

/** Writes events as they are sent: whoever serves them over HTTP knows how. */
export class Renderer extends Context.Service<
  Renderer,
  { readonly render: Render; readonly idOf: (place: Place, companyId: CompanyId.CompanyId) => string }
>()("@satrail/core/features/webhooks/Ports/Renderer") {}

/** What became of a request to an endpoint. `body` is the beginning of the answer. */
export type Posted =
  | { readonly _tag: "Answered"; readonly status: number; readonly body: string; readonly retryAfter: string | null }
  | { readonly _tag: "Unanswered"; readonly reason: string }

/** Posts to servers that companies have named. It follows no redirect, and asks no server but a public one. */
export interface Poster {
  /** Never fails: whatever goes wrong is what became of it. It ends within `attemptMillis`. */
  readonly post: (ask: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }) => Effect.Effect<Posted>
  /** Why a URL may not be posted to, as far as it can be known without asking anybody; undefined where it may. */
  readonly issue: (url: string) => string | undefined
}

const none = "This program sends no webhooks"

/** A program that embeds the service and brings none sends no webhooks: no endpoint can be created. */
export const Poster = Context.Reference<Poster>("@satrail/core/features/webhooks/Ports/Poster", {
  defaultValue: () => ({ post: () => Effect.succeed({ _tag: "Unanswered", reason: none }), issue: () => none })
})

/** Keeps the secrets of endpoints, and signs with the service's own key. */
export interface Secrets {
  readonly seal: (text: string, owner: CompanyId.CompanyId) => string
  /** Undefined where it was sealed with another key. */
  readonly open: (sealed: string, owner: CompanyId.CompanyId) => string | undefined
  /** An Ed25519 signature, in base64. */
  readonly sign: (text: string) => string
  /** The public key that verifies it, in base64. */
  readonly publicKey: string
}

/** Wanted as soon as endpoints are created: null where a program sends no webhooks. */
export const Secrets = Context.Reference<Secrets | null>("@satrail/core/features/webhooks/Ports/Secrets", { defaultValue: () => null })
