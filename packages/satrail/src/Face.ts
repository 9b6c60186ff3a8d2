import { type Carrier, type OperatorClient, over } from "@satrail/client/Client"
import { SatrailError } from "@satrail/client/Errors"
import { allRoutes } from "@satrail/client/OperatorRoutes"
import { wireTypes } from "@satrail/client/Plain"
import type { WithSchemas } from "@satrail/client/Schemas"
import { refusalOf, type Transport, world } from "@satrail/client/Transport"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as ReadCache from "@satrail/core/base/ReadCache"
import { afterAllOf, cursorOf, Events } from "@satrail/core/events/Events"
import { isAsked } from "@satrail/core/events/Feed"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { type Host, textOf } from "@satrail/http/edge/Inside"
import type { EventIds } from "@satrail/http/wire/EventIds"
import * as EventFilters from "@satrail/http/wire/EventFilters"
import * as Catalogue from "@satrail/service/core/Catalogue"
import type * as Http from "@satrail/service/http/Http"
import { Cause, Context, Effect, Exit, Stream } from "effect"
import * as HostEvents from "./Events.ts"
import { checkNames } from "./KnownOptions.ts"
import { invalid, refusal, stopping } from "./Refusals.ts"

/** The credential of the operator's calls. It is not a secret, because nothing outside of this process can send it. */
const operator = "operator"

/** Returns the holder as which the program calls the routes for a company, without a key of the company. */
const holding = (companies: Companies["Service"]) => {
  const read = ReadCache.cached((id: CompanyId.CompanyId) =>
    Effect.map(companies.get(id), ({ plan, limits, fees, feesRevision, createdAtMillis }): ApiKey.Holder => ({
      apiKey: ApiKey.withoutSecret({
        id: "",
        companyId: id,
        name: "program",
        scopes: ["admin"],
        createdAtMillis
      }),
      plan,
      companyLimits: limits,
      fees,
      feesRevision
    }))
  )
  return (id: string) => read(CompanyId.make(id))
}

type Send = Awaited<ReturnType<ReturnType<typeof Http.inside>["begin"]>>

interface Surroundings {
  readonly context: Context.Context<Companies | Events | LedgerReads>
  readonly ids: EventIds
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  readonly iterate: <A>(stream: Stream.Stream<A, unknown>) => AsyncIterable<A>
  /** Returns the routes of this process. Throws if the service was closed. */
  readonly routes: () => Promise<Send>
  /** Logs an unexpected error. */
  readonly report: (cause: Cause.Cause<unknown>) => void
}

/** Carries requests to the routes of this process. */
const sending = ({ context, routes, report }: Surroundings): Transport["send"] => {
  const holderOf = holding(Context.get(context, Companies))
  const ofOperator = Effect.succeed<Host>("operator")
  return async ({ method, path, key, body, idempotencyKey, isOwnKey, signal }) => {
    signal?.throwIfAborted()
    // Nothing is lost on the way, so only the caller's own key makes a call repeatable.
    const once = isOwnKey ? undefined : idempotencyKey
    const asked = {
      method,
      path,
      ...(body && { body: JSON.stringify(body) }),
      ...(once !== undefined && { headers: { "idempotency-key": once } })
    }
    const send = await routes()
    const exit = await send(key === operator ? ofOperator : holderOf(key), asked, signal)
    if (Exit.isFailure(exit)) {
      signal?.throwIfAborted()
      if (Cause.hasInterruptsOnly(exit.cause)) throw stopping()
      const cause = refusal(Cause.squash(exit.cause))
      if (cause instanceof SatrailError) throw cause
      report(exit.cause)
      throw new SatrailError(
        { status: 500, code: "internal", message: String(cause), idempotencyKey: once },
        { cause }
      )
    }
    const { status, headers } = exit.value
    const text = textOf(exit.value)
    const answer: unknown = text === "" ? undefined : JSON.parse(text)
    const response = {
      status,
      headers: { get: (name: string) => headers[name] ?? null },
      json: async () => answer
    }
    if (status >= 400) throw await refusalOf(response, once)
    return { answer, headers: response.headers }
  }
}

const aborted = (signal: AbortSignal) =>
  Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    signal.addEventListener("abort", end)
    if (signal.aborted) end()
    return Effect.sync(() => signal.removeEventListener("abort", end))
  })

/** Reads events from the database. */
const reading = ({ context, ids, run, iterate }: Surroundings): NonNullable<Carrier["events"]> =>
  async function* (_, __, query, isOpenTold) {
    checkNames("events", query, { after: true, company: true, signal: true, subject: true, types: true })
    const { company, signal, subject, types } = query
    const place = HostEvents.after(ids, query.after)
    const owner = typeof company === "object" ? company.id : company
    // Determine this position before the first read, so that no event in between is missed.
    const after =
      place === "now" && isOpenTold
        ? cursorOf(afterAllOf(await run(Context.get(context, LedgerReads).lastEvent)))
        : place
    if (isOpenTold) yield "open"
    const wanted = {
      ...(types !== undefined && types.length > 0 && { types: types.flatMap(wireTypes).join(",") }),
      ...(subject !== undefined && { subject })
    }
    const filter = Effect.runSyncExit(EventFilters.filterOf(Catalogue.types, wanted))
    if (Exit.isFailure(filter)) throw refusal(Cause.squash(filter.cause))
    const heard = Context.get(context, Events)
      .tail({
        ...(after !== undefined && { after }),
        ...(owner !== undefined && { companyId: CompanyId.make(owner) })
      })
      .pipe(Stream.filter((one) => isAsked(one, filter.value)))
    for await (const one of iterate(signal ? Stream.interruptWhen(heard, aborted(signal)) : heard))
      yield HostEvents.of(one, ids)
    if (isOpenTold && !signal?.aborted) throw stopping()
  }

/** Creates the client of this process. */
export const make = <M>(
  metadata: WithSchemas<M>["metadata"],
  surroundings: Surroundings
): OperatorClient<M> =>
  over<M, OperatorClient<M>>(
    {
      url: "http://inside",
      key: (company) => {
        if (company === undefined) throw invalid("company", "is required")
        return company
      },
      operatorToken: operator,
      ...(metadata !== undefined && { metadata })
    },
    world,
    {
      ...world,
      send: sending(surroundings),
      events: reading(surroundings),
      open: () => Promise.reject(stopping()),
      waitMillis: () => 0
    },
    allRoutes
  )
