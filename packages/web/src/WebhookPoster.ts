import type { CompanyId } from "@satrail/core/base/CompanyId"
import * as FairSlots from "@satrail/core/base/FairSlots"
import { attemptMillis, connectMillis, keptCharacters, Poster, type Posted } from "@satrail/core/nodes/Poster"
import { Effect, Layer } from "effect"
import * as Outbound from "./Outbound.ts"
import * as Pace from "./Pace.ts"

/**
 * Maximum number of concurrent requests to one host: of all companies together, and of each. Many companies may use
 * the same host, so one whose endpoints are slow must not take all of them.
 */
export const requestsPerHost: FairSlots.Limits = { most: 64, each: 16 }

export interface Options {
  readonly outbound?: Outbound.Options
  /** For development: also posts to this machine, and to public hosts over http. */
  readonly allowsLoopback?: boolean
}

const unanswered = (reason: string): Posted => ({ _tag: "Unanswered", reason })

export const make = ({ outbound = {}, allowsLoopback = false }: Options = {}): Poster => {
  const { ask } = Outbound.make({
    connectMillis,
    totalMillis: attemptMillis,
    keepsConnections: true,
    allowsLoopback,
    ...outbound
  })
  const turn = Pace.make()
  const hosts = new Map<string, ReturnType<typeof FairSlots.make>>()

  const inTurn = <A>(host: string, companyId: CompanyId, request: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.suspend(() => {
      const slots = hosts.get(host) ?? FairSlots.make(requestsPerHost)
      hosts.set(host, slots)
      return Effect.ensuring(
        slots.run(companyId, request),
        Effect.sync(() => slots.isIdle() && hosts.get(host) === slots && hosts.delete(host))
      )
    })

  return {
    nowMillis: Date.now,
    post: ({ companyId, url, headers, body }) => {
      const parsed = URL.parse(url)
      if (parsed === null) return Effect.succeed(unanswered("not sent: it is not a URL"))
      const asked = Effect.suspend(() =>
        ask({ url, method: "POST", headers: headers(), body, firstBytes: keptCharacters })
      )
      return inTurn(
        parsed.host,
        companyId,
        Effect.andThen(turn, asked).pipe(
          Effect.map(({ status, body, retryAfter = null }): Posted => ({
            _tag: "Answered",
            status,
            body,
            retryAfter
          })),
          // Only the endpoint's owner sees the reason, and only public hosts are contacted.
          Effect.catchTags({
            Forbidden: ({ reason }) => Effect.succeed(unanswered(`not contacted: ${reason}`)),
            Unreachable: ({ reason }) => Effect.succeed(unanswered(reason)),
            Unusable: ({ reason }) => Effect.succeed(unanswered(`the server ${reason}`))
          })
        )
      )
    },
    issue: (url) => {
      const reason = Outbound.issueOf(url, { ...outbound, allowsLoopback })
      return reason === undefined
        ? undefined
        : `must be ${allowsLoopback ? "an http or https URL of this machine or of a public host" : "an https URL of a public host"}: ${reason}`
    }
  }
}

export const layer = (options?: Options) => Layer.sync(Poster, () => make(options))
