import type { Posted, Poster } from "@satrail/core/nodes/Poster"
import { Effect } from "effect"

/** Ways in which a company's server responds to a webhook. */
export const behaviours = [
  "ok",
  "slow",
  "silent",
  "error",
  "gone",
  "busy",
  "unavailable",
  "redirect",
  "closes_before",
  "closes_after"
] as const
export type Behaviour = (typeof behaviours)[number]

/** A request to a server. It has arrived, unless `behaviour` is `closes_before`. */
export interface Arrival {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly behaviour: Behaviour
}

/** The companies' servers that receive webhooks. */
export interface Receivers {
  readonly poster: Poster
  /** Makes the server at this URL respond this way the given number of times, and correctly after that. */
  readonly behave: (url: string, behaviour: Behaviour, times: number) => void
  /** Makes all servers respond correctly. */
  readonly recover: () => void
  /** Returns the arrivals since the last call, in order. */
  readonly take: () => ReadonlyArray<Arrival>
}

const answered = (status: number, retryAfter: string | null = null): Posted => ({
  _tag: "Answered",
  status,
  body: "",
  retryAfter
})
const lost = (reason: string): Posted => ({ _tag: "Unanswered", reason })

/** The response and its delay. */
const answers: { readonly [behaviour in Behaviour]: readonly [millis: number, posted: Posted] } = {
  ok: [0, answered(204)],
  slow: [10_000, answered(200)],
  silent: [Infinity, lost("never")],
  error: [0, answered(500)],
  gone: [0, answered(410)],
  busy: [0, answered(429, "120")],
  unavailable: [0, answered(503, "3600")],
  redirect: [0, answered(302)],
  closes_before: [0, lost("no connection")],
  closes_after: [0, lost("the connection was closed")]
}

export const make = (): Receivers => {
  let arrivals: Array<Arrival> = []
  const behaving = new Map<string, { readonly behaviour: Behaviour; left: number }>()

  const behaviourOf = (url: string): Behaviour => {
    const one = behaving.get(url)
    if (one === undefined || one.left === 0) return "ok"
    one.left--
    return one.behaviour
  }

  return {
    poster: {
      issue: () => undefined,
      post: ({ url, headers, body }) =>
        Effect.suspend(() => {
          const behaviour = behaviourOf(url)
          const [millis, posted] = answers[behaviour]
          arrivals.push({ url, headers: headers(), body, behaviour })
          if (millis === Infinity) return Effect.never
          return millis === 0 ? Effect.succeed(posted) : Effect.delay(Effect.succeed(posted), millis)
        })
    },
    behave: (url, behaviour, times) => void behaving.set(url, { behaviour, left: times }),
    recover: () => behaving.clear(),
    take: () => {
      const taken = arrivals
      arrivals = []
      return taken
    }
  }
}
