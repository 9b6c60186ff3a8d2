import type { CompanyRef } from "@satrail/client/Calls"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { afterAllOf, cursorOf, Events } from "@satrail/core/events/Events"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Transactions } from "@satrail/core/reports/Transactions"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { failureOf } from "@satrail/http/resources/Withdrawals"
import { Context, Data, Effect, Option, Schema, Stream } from "effect"
import type { SatrailError } from "./Errors.ts"
import { idOf } from "./Sharing.ts"
import * as Fields from "./Fields.ts"
import { checking } from "./KnownOptions.ts"
import * as Reply from "./Reply.ts"
import * as Views from "./Views.ts"

export interface SettledOptions {
  /** Ends the wait, such as `AbortSignal.timeout(60_000)`. The call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Waits until a record is final. */
export type Settled<A> = (company: CompanyRef, id: string, options?: SettledOptions) => Promise<A>

class WithdrawalFailed extends Data.TaggedError("NotSettled")<{
  readonly message: string
  readonly details: object
}> {}

/** Thrown if the withdrawal failed. `details` is the withdrawal. */
// oxlint-disable-next-line typescript/consistent-type-assertions -- `refusal` adds the members of every error
export const NotSettled: new (...given: ReadonlyArray<unknown>) => SatrailError = WithdrawalFailed as never

/** Thrown if the service was closed before or during the call. */
export class Stopping extends Data.TaggedError("Stopping") {
  override readonly message = "the service was closed"
}

/** The services and the runtime. */
export interface Surroundings {
  readonly context: Context.Context<never>
  readonly run: <A, E>(effect: Effect.Effect<A, E>, signal?: unknown) => Promise<A>
  readonly iterate: Reply.Iterate
}

/** Reads the withdrawal now and after each of its events, until it is final. */
const ended = Effect.fnUntraced(function* (
  context: Context.Context<never>,
  companyId: CompanyId.CompanyId,
  id: string
) {
  const service = <I, S>(key: Context.Key<I, S>) => Effect.fromOption(Context.getOption(context, key))
  const transactions = yield* service(Transactions)
  // Determine this position before the first read, so that no event in between is missed.
  const after = cursorOf(afterAllOf(yield* (yield* service(LedgerReads)).lastEvent))
  const about = Stream.filter(
    (yield* service(Events)).tail({ companyId, after }),
    ({ subject }) => subject === id
  )
  const reads = Stream.mapEffect(Stream.concat(Stream.succeed(undefined), about), () =>
    transactions.withdrawal(companyId, id)
  )
  const found = yield* Stream.runHead(Stream.filter(reads, ({ status }) => status !== "pending"))
  return Option.isSome(found) ? found.value : yield* new Stopping()
})

const view = Views.of("transactions", "withdrawal")
const check = checking("withdrawals.settled", [
  ...Fields.ids,
  Fields.fields({ signal: Schema.optional(Schema.Unknown) })
])

/** Builds `withdrawals.settled`. */
export const make =
  ({ context, run, iterate }: Surroundings) =>
  async (company: unknown, id: string, options: SettledOptions = {}): Promise<unknown> => {
    const { signal } = Object(options)
    const companyId = CompanyId.make(String(idOf(company)))
    const told = ({ failure }: Withdrawal) =>
      failure === null ? "the withdrawal failed" : `the withdrawal failed: ${failureOf(failure).message}`
    const wait = Effect.gen(function* () {
      yield* check([company, id, options])
      const withdrawal = yield* ended(context, companyId, id)
      const plain = yield* view(withdrawal, Reply.plain(withdrawal, iterate))
      return withdrawal.status === "settled"
        ? plain
        : yield* new WithdrawalFailed({ message: told(withdrawal), details: Object(plain) })
    })
    return run(wait, signal)
  }
