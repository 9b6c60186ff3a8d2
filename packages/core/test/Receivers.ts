import { Clock, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import type { Settings } from "@satrail/features/webhooks/core/records/Endpoint"
import { cursorOf } from "../src/events/Events.ts"
import type { Notice } from "../src/events/Notice.ts"
import { PollMillis } from "../src/ledger/Wakes.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Renderer } from "../src/events/Renderer.ts"
import { Secrets } from "@satrail/features/webhooks/core/Secrets"
import { Poster, type Posted } from "../src/nodes/Poster.ts"
import { Webhooks } from "@satrail/features/webhooks/core/Webhooks"
import * as Dispatcher from "@satrail/features/webhooks/core/Dispatcher"
import { settings as usual } from "./Rows.ts"
import { company, companyWith, made, type Ports, type Process, type World } from "./World.ts"

export interface Request {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly atMillis: number
}

export const ok: Posted = { _tag: "Answered", status: 204, body: "", retryAfter: null }
export const broken = (status: number, retryAfter: string | null = null): Posted => ({
  _tag: "Answered",
  status,
  body: "no",
  retryAfter
})

/** Webhook receivers: the requests sent to them, and how they respond. */
const receivers = () => {
  const sent: Array<Request> = []
  const state = { answer: (_: Request): Effect.Effect<Posted> => Effect.succeed(ok), turn: Effect.void }
  const poster: Poster = {
    issue: (url) => (url.startsWith("https://") ? undefined : "An https URL"),
    post: (ask) =>
      Effect.flatMap(Effect.andThen(state.turn, Clock.currentTimeMillis), (atMillis) => {
        const request = { ...ask, headers: ask.headers(), atMillis }
        sent.push(request)
        return state.answer(request)
      })
  }
  const secrets: Secrets = {
    seal: (text, owner) => `${owner} ${text}`,
    open: (sealed, owner) => (sealed.startsWith(owner) ? sealed.slice(owner.length + 1) : undefined),
    sign: (text) => `signed(${text.length})`,
    publicKey: "public"
  }
  return { sent, state, poster, secrets }
}

const idOf: Renderer["Service"]["idOf"] = (place, companyId) => `evt_${cursorOf(place)}_${companyId}`
const renderer = Renderer.of({
  idOf,
  render: ({ place, companyId, type, subject, record }: Notice) =>
    JSON.stringify({
      id: idOf(place, companyId),
      type,
      subject,
      status: "status" in record ? record.status : null
    })
})

export const world = ({ isAway = false } = {}) => {
  const all = receivers()
  const store = { isAway, arrive: Effect.void }
  /** A store that fails to record deliveries while `isAway` is true. `store.arrive` records the last of them late. */
  const away = (journal: Journal["Service"]): Journal["Service"] => ({
    commit: (change) => {
      if (!store.isAway || change._tag !== "DeliveryMade") return journal.commit(change)
      store.arrive = Effect.asVoid(Effect.orDie(journal.commit(change)))
      return Effect.fail(new StoreUnavailable({ operation: "test", cause: new Error("away") }))
    }
  })
  const change: World["change"] = (ports) =>
    Context.add(ports, Journal, away(Context.get(ports, Journal))).pipe(
      Context.add(Poster, all.poster),
      Context.add(Secrets, all.secrets),
      Context.add(PollMillis, 3_600_000)
    )
  // Use a long lease, because these tests advance the clock by days, which would require a million renewals of
  // a short lease.
  return {
    sent: all.sent,
    state: all.state,
    store,
    change,
    settings: { ...usual, dutyLeaseMillis: 30 * 86_400_000 }
  }
}

/** Sends webhooks until the scope closes. */
export const sending = Effect.flatMap(Effect.context<Ports | Process>(), (context) =>
  Layer.build(Layer.fresh(Dispatcher.layerWorker)).pipe(
    Effect.provideService(Renderer, renderer),
    Effect.provideContext(context)
  )
)

const settings = (fields: Partial<Settings> = {}): Settings => ({
  url: "https://shop.example/webhooks",
  description: "",
  types: [],
  signatureHeader: null,
  ...fields
})

export const endpoint = Effect.fnUntraced(function* (
  { id }: Pick<Company, "id">,
  fields: Partial<Settings> = {}
) {
  return yield* made((yield* Webhooks).create({ companyId: id, settings: settings(fields) }))
})

export const read = ({
  body
}: Request): {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly status: string
} => JSON.parse(body)
export const types = (sent: ReadonlyArray<Request>) => sent.map((request) => read(request).type)
/** Advances the clock by one second in steps of 100 ms, so that all work started by a commit can run. */
export const second = Effect.repeat(TestClock.adjust(100), { times: 9 })

/** Starts sending webhooks, and opens a company that has this balance in sats and an endpoint. */
export const subscribed = Effect.fnUntraced(function* (sats = 0, fields: Partial<Settings> = {}) {
  yield* sending
  const row = yield* sats === 0 ? company() : companyWith(sats)
  const issued = yield* endpoint(row, fields)
  yield* second
  return { row, ...issued }
})
