import { attemptMillis, connectMillis, keptCharacters, Poster, type Posted } from "@satrail/core/nodes/Poster"
import { Effect, Layer, Semaphore } from "effect"
import * as Outbound from "./Outbound.ts"
import * as Pace from "./Pace.ts"

/** Maximum number of concurrent connections to one host, regardless of who configured it. */
export const socketsPerHost = 16

export interface Options {
  readonly outbound?: Outbound.Options
  /**
   * For development: posts to any http or https URL, including this machine's. Never enable this unless you
   * trust all companies.
   */
  readonly isOpen?: boolean
}

const unanswered = (reason: string): Posted => ({ _tag: "Unanswered", reason })

export const make = ({ outbound = {}, isOpen = false }: Options = {}): Poster => {
  const { ask } = Outbound.make({ connectMillis, totalMillis: attemptMillis, keepsConnections: true, isOpen, ...outbound })
  const turn = Pace.make()
  const hosts = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()

  /** Queues requests to a host that already has the maximum number of connections. */
  const inTurn = <A>(host: string, work: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.suspend(() => {
      const place = hosts.get(host) ?? { semaphore: Semaphore.makeUnsafe(socketsPerHost), users: 0 }
      hosts.set(host, place)
      place.users++
      return Effect.ensuring(
        place.semaphore.withPermits(1)(work),
        Effect.sync(() => {
          place.users--
          if (place.users === 0) hosts.delete(host)
        })
      )
    })

  return {
    post: ({ url, headers, body }) => {
      const parsed = URL.parse(url)
      if (parsed === null) return Effect.succeed(unanswered("not sent: it is not a URL"))
      const asked = ask({ url, method: "POST", headers, body, firstBytes: keptCharacters })
      return inTurn(
        parsed.host,
        Effect.andThen(turn, asked).pipe(
          Effect.map(({ status, body, retryAfter = null }): Posted => ({ _tag: "Answered", status, body, retryAfter })),
          // The endpoint's owner sees the error, but can't learn which ports of which hosts are open.
          Effect.catchTags({
            Forbidden: ({ reason }) => Effect.succeed(unanswered(`not contacted: ${reason}`)),
            Unreachable: () => Effect.succeed(unanswered("no connection, or no response in time")),
            Unusable: ({ reason }) => Effect.succeed(unanswered(`the server ${reason}`))
          })
        )
      )
    },
    issue: (url) => {
      const reason = Outbound.issueOf(url, { ...outbound, isOpen })
      return reason === undefined ? undefined : `must be ${isOpen ? "an http or https URL" : "an https URL of a public host"}: ${reason}`
    }
  }
}

export const layer = (options?: Options) => Layer.sync(Poster, () => make(options))
