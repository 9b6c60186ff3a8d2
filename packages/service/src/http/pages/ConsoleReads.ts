import * as Core from "@satrail/core/accounts/Companies"
import { Deciders } from "@satrail/core/accounts/Deciders"
import { Stops } from "@satrail/core/accounts/Stops"
import * as Decimal from "@satrail/core/base/Decimal"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Feed from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import { Prices } from "@satrail/core/nodes/Prices"
import * as PaymentDetails from "@satrail/core/reports/PaymentDetails"
import {
  type OperatorReads,
  type Payment,
  type Reads,
  Refused,
  type Stops as Stopped
} from "@satrail/ui/console/Api"
import * as Format from "@satrail/ui/console/Format"
import type { Event } from "@satrail/ui/console/wire"
import { Effect } from "effect"
import * as EventBody from "../events/EventBody.ts"
import * as Companies from "@satrail/http/resources/Companies"
import * as Suspended from "@satrail/http/resources/Suspense"
import * as Errors from "@satrail/http/wire/Errors"
import * as EventIds from "@satrail/http/wire/EventIds"
import * as Scalars from "@satrail/http/wire/Scalars"
import { PersonRead } from "@satrail/http/api/PersonRead"

// Reads that only the console needs. Reads of a company's payments require the scope `read`, as in the API.

const shown = ({ amount, fee, ...payment }: PaymentDetails.Payment): Payment => ({
  ...payment,
  amountSats: Scalars.sats(amount),
  feeSats: Scalars.exactSats(fee)
})

const forbidden = new Refused(403, "forbidden", "This key lacks the scope `read`.")

/** Fails with `Refused` where the API would respond with an error. */
const reading = <A, E extends Errors.ServiceError>(read: Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(
    Effect.match(Errors.answered(read), {
      onSuccess: (value) => () => value,
      onFailure:
        ({ status, message, error }) =>
        (): A => {
          throw new Refused(status, error.code, message, error)
        }
    })
  ).then((take) => take())

/** Runs a read for a user with these scopes. */
const allowed =
  (scopes: ReadonlyArray<string>) =>
  async <A, E extends Errors.ServiceError>(found: Effect.Effect<A, E>): Promise<A> => {
    if (!scopes.some((scope) => scope === "read" || scope === "admin" || scope === "all")) throw forbidden
    return reading(found)
  }

export const make = Effect.gen(function* () {
  const [details, feed, ids] = [yield* PaymentDetails.PaymentDetails, yield* Feed.Feed, yield* EventIds.Ids]
  const [{ get }, { standing }, { current }] = [yield* Core.Companies, yield* Stops, yield* Prices]
  const [person, isSame] = [yield* PersonRead, yield* Deciders]
  const render = EventBody.render(ids)

  /** Reads of one company's payments, for a user who counts as this key or person. */
  const of = (companyId: CompanyId.CompanyId, userId: string, scopes: ReadonlyArray<string>): Reads => {
    const read = allowed(scopes)
    return {
      payments: async (asked) => (await read(details.payments(companyId, asked))).map(shown),
      paymentsOf: async (record) => (await read(details.paymentsOf(companyId, record))).map(shown),
      postings: async (ledgerTxId) =>
        (await read(details.postings(companyId, ledgerTxId))).map(({ from, to, amount, atMillis }) => ({
          from,
          to,
          sats: Scalars.exactSats(amount),
          atMillis
        })),
      steps: async (boundaries) =>
        (await read(details.steps(companyId, boundaries))).map((step) => ({
          fromMillis: step.fromMillis,
          inSats: Scalars.exactSats(step.in),
          outSats: Scalars.exactSats(step.out),
          balanceSats: Scalars.exactSats(step.balance)
        })),
      events: async ({ cursor, limit, types }) => {
        const before = cursor === undefined ? undefined : ids.read(cursor, companyId)
        if (cursor !== undefined && before === undefined)
          throw new Refused(400, "malformed_request", "cursor must be the id of an event")
        const filter =
          types === undefined ? {} : { types: new Set(Notice.matching<string>(types, feed.types)) }
        const { items, next } = await read(feed.newest({ companyId, before, limit, ...filter }, render))
        return {
          // oxlint-disable-next-line typescript/consistent-type-assertions -- the OpenAPI document declares the event
          data: items.map(({ body }) => JSON.parse(body) as Event),
          next: next === undefined ? undefined : ids.write(next, companyId),
          characters: items.reduce((sum, { body }) => sum + body.length, 0)
        }
      },
      isRequester: (id) => read(isSame(userId, id)),
      search: (text) => read(details.search(companyId, text))
    }
  }

  const company = (id: string) =>
    get(CompanyId.make(id)).pipe(
      Effect.map((row) => [[row.id, Companies.view.of(row)] as const]),
      Effect.catchTag("NotFound", () => Effect.succeed([]))
    )

  /** Reads of an operator. The store reads several companies together. */
  const ofOperator = (scopes: ReadonlyArray<string>): OperatorReads => {
    const read = allowed(scopes)
    return {
      companies: async (asked) =>
        new Map((await read(Effect.forEach(new Set(asked), company, { concurrency: "unbounded" }))).flat()),
      person: (id) => read(person(id)),
      suspended: async (id) => Suspended.view.of(await read(details.suspended(id)))
    }
  }

  return {
    of,
    ofOperator,
    /** Returns the stops in effect for everyone and for this company. Every signed-in user can see them. */
    stops: async (companyId: CompanyId.CompanyId | null): Promise<Stopped> => {
      const [{ sending, receiving }, company] = await Promise.all([
        reading(standing),
        companyId === null ? undefined : reading(get(companyId))
      ])
      const frozen = company?.frozen ?? null
      return {
        sendingMillis: sending,
        receivingMillis: receiving,
        frozen: frozen && {
          reason: frozen.reason,
          sinceMillis: frozen.sinceMillis,
          waits: frozen.pending === "wait"
        }
      }
    },
    /**
     * Returns the price of one bitcoin in the preferred currency, or in another one; undefined if no price is
     * known.
     */
    price: (preferred: string): Promise<Format.Price | undefined> =>
      reading(current).then(
        (rates) => {
          const currencies = [...rates.map(({ currency }) => currency), Format.bitcoin].toSorted()
          if (preferred === Format.bitcoin) return { currency: preferred, perBitcoin: 1, currencies }
          const rate = rates.find(({ currency }) => currency === preferred) ?? rates[0]
          return (
            rate && { currency: rate.currency, perBitcoin: Number(Decimal.format(rate.price)), currencies }
          )
        },
        (error: unknown) => {
          if (error instanceof Refused) return undefined
          throw error
        }
      )
  }
})

export type ConsoleReads = Effect.Success<typeof make>
