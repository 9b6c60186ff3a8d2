import { Cause, Effect, Exit, Layer, Option } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Outage from "@satrail/core/base/Outage"
import * as Pages from "@satrail/core/base/Pages"
import * as Worker from "@satrail/core/base/Worker"
import { Tail } from "@satrail/core/events/Tail"
import type * as Change from "@satrail/core/ledger/Change"
import * as Duties from "@satrail/core/ledger/Duties"
import { StaleFence } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Endpoint from "./records/Endpoint.ts"
import * as Inbox from "./Inbox.ts"
import * as Lag from "./Lag.ts"
import * as Runner from "./Runner.ts"
import { WebhookReads } from "./records/WebhookReads.ts"

const pageSize = 500
const maxPauseMillis = 30_000

/** Sends events to all endpoints while this process has the role. */
const lead = Effect.fnUntraced(function* (fence: Change.Fence) {
  const [ledger, nouns, reads, tail] = [
    yield* LedgerReads,
    yield* NounReads,
    yield* WebhookReads,
    yield* Tail
  ]
  const runner = yield* Runner.make
  const inboxes = new Map<string, Inbox.Inbox>()
  const ofCompany = new Map<CompanyId.CompanyId, Set<Inbox.Inbox>>()
  /** Reasons of the current outage that were logged. It affects many endpoints. */
  const logged = new Set<string>()

  /** Serves one endpoint until it is deleted. */
  const keep = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string, inbox: Inbox.Inbox) {
    let failures = 0
    while (true) {
      const exit = yield* Effect.exit(
        Effect.gen(function* () {
          // If the endpoint changes after this line, it is read again.
          inbox.take("changed")
          const endpoint = Option.getOrUndefined(
            yield* runner.reading(nouns.get(Endpoint.noun, companyId, id))
          )
          if (endpoint === undefined || endpoint.status === "deleted") return "deleted"
          if (endpoint.status === "enabled") yield* runner.once(endpoint, fence, inbox)
          else yield* inbox.await(["changed"])
          return "changed"
        })
      )
      if (Exit.isSuccess(exit)) {
        failures = 0
        if (exit.value === "deleted") return
        continue
      }
      if (Cause.hasInterruptsOnly(exit.cause)) return
      const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      // Another process has the role. The lease check will stop this one shortly.
      if (error instanceof StaleFence) return yield* Effect.never
      failures++
      const reason = Outage.reasonOf(exit.cause)
      if (reason === undefined)
        yield* Effect.logWarning("webhook: sending to an endpoint failed; will retry", exit.cause)
      else if (!logged.has(reason))
        yield* Effect.logWarning(`webhook: sending to an endpoint failed; will retry: ${reason}`)
      if (reason !== undefined) logged.add(reason)
      yield* Effect.sleep(Math.min(maxPauseMillis, 250 * 2 ** Math.min(failures, 10)))
    }
  })

  const begin = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const inbox = Inbox.make()
    inboxes.set(id, inbox)
    const others = ofCompany.get(companyId) ?? new Set()
    ofCompany.set(companyId, others.add(inbox))
    const end = Effect.sync(() => {
      inboxes.delete(id)
      others.delete(inbox)
      if (others.size === 0) ofCompany.delete(companyId)
    })
    yield* Effect.forkScoped(
      Effect.annotateLogs(Effect.ensuring(keep(companyId, id, inbox), end), { endpointId: id })
    )
  })

  let position: bigint | undefined
  const more = yield* tail.listen(null)
  const step = Effect.gen(function* () {
    if (position === undefined) {
      const newest = yield* ledger.lastEvent
      yield* Pages.each(
        pageSize,
        (after: Endpoint.Endpoint | null) => reads.enabledEndpoints(after?.id ?? null, pageSize),
        (page) =>
          Effect.forEach(
            page,
            ({ companyId, id }) => (inboxes.has(id) ? Effect.void : begin(companyId, id)),
            { discard: true }
          )
      )
      position = newest
    }
    const page = yield* tail.after(position)
    logged.clear()
    for (const { type, companyId, subject } of page) {
      if (type === "webhook_endpoint.changed" || type === "webhook_endpoint.disabled") {
        const inbox = inboxes.get(subject)
        if (inbox === undefined) yield* begin(companyId, subject)
        else inbox.offer("changed")
      }
    }
    const companies = new Set(page.map(({ companyId }) => companyId))
    if (companies.size > 0) companies.add(CompanyId.operator)
    for (const companyId of companies)
      for (const inbox of ofCompany.get(companyId) ?? []) inbox.offer("events")
    position = page.at(-1)?.id ?? position
    // One wake-up may cover many commits. Reading after each commit would block a busy process.
    if (page.length === 0) yield* more
  })
  yield* Lag.measure(runner.waitingSinceMillis, fence)
  yield* Worker.runOpen("webhooks", step, Effect.void)
})

/**
 * Sends webhooks while the scope is open, in one process at a time. Requires a `Renderer`, which
 * `@satrail/http` provides, and uses a `Poster` and `Secrets`.
 */
export const layerWorker = Layer.effectDiscard(Duties.run("webhooks", lead))
