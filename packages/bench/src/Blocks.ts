import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Storage from "@satrail/postgres/Storage"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { createHash } from "node:crypto"
import * as Bars from "./Bars.ts"
import * as Fill from "./Fill.ts"
import type { Postgres } from "./Postgres.ts"
import { BenchFailed } from "./Program.ts"
import type { Options } from "./Rates.ts"
import * as Report from "./Report.ts"

/** As many outputs has a full block, about; a few of them are ours. */
const outputs = 5000
const ours = 5

export const what: Report.What = { operation: "outputs of a block", pattern: `${outputs} outputs`, clients: 1 }

/** How many addresses are watched for deposits. */
const sizes = [10, 10_000, 1_000_000]

/** The script of the address with this number: P2TR, of no key. Negative numbers are other people's. */
const scriptOf = (number: number): string => `5120${createHash("sha256").update(String(number)).digest("hex")}`

const watched = `
insert into satrail.companies (id, name, plan, created_at_millis) values (gen_random_uuid(), 'Bench', 'free', 1700000000000);
insert into satrail.on_chain_addresses (id, company_id, node_id, address, script_pub_key, type, index, metadata, created_at_millis)
select gen_random_uuid(), c.id, repeat('00', 32), 'bcrt1p' || k, '5120' || encode(sha256(k::text::bytea), 'hex'), 'taproot', k, '{}', 1700000000000
from satrail.companies c, generate_series(0, COUNT - 1) k;
`

const failed = ({ message }: { readonly message: string }) => new BenchFailed({ message })

/** The service's own question about a block, to a database in which so many addresses are watched. How often it is answered in a second. */
const subject = Effect.fnUntraced(function* (
  postgres: Postgres,
  count: number
): Effect.fn.Return<(seconds: number) => Effect.Effect<number, BenchFailed>, BenchFailed, Scope.Scope> {
  const url = yield* postgres.database
  const storage = yield* Effect.mapError(Layer.build(Storage.layer({ url: Redacted.make(url), maxConnections: 2 })), failed)
  const client = yield* Layer.build(Fill.client(url)).pipe(Effect.mapError(failed))
  yield* Effect.provideContext(Fill.script(watched.replace("COUNT", String(count))), client)
  const records = Context.get(storage, ReceivingReads)
  const block = Array.from({ length: outputs }, (_, i) => scriptOf(i < ours ? i : -i))
  const look = Effect.flatMap(Effect.mapError(records.onChainAddresses(block), failed), (found) =>
    found.length === ours
      ? Effect.void
      : Effect.fail(new BenchFailed({ message: `${found.length} of the block's outputs are ours, and not ${ours}` }))
  )
  return (seconds) =>
    Effect.gen(function* () {
      const begun = performance.now()
      let times = 0
      for (; performance.now() - begun < seconds * 1000; times++) yield* look
      return (times * 1000) / (performance.now() - begun)
    })
})

/** What it costs to find our outputs in a block, by how many addresses are watched. All sizes are measured one after the other in every round. */
export const growth = (postgres: Postgres, seconds: number, { rounds, tell }: Options): Effect.Effect<Report.Growth, BenchFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const subjects = yield* Effect.forEach(sizes, (size) => {
        tell(`watching: ${size.toLocaleString("en")} addresses`)
        return subject(postgres, size)
      })
      const all = Effect.forEach(subjects, (run) => run(seconds))
      yield* all
      const rates: Array<ReadonlyArray<number>> = []
      for (let round = 0; round < rounds; round++) rates.push(yield* all)
      return Report.growth(what, sizes, rates, Bars.blocksExponent)
    })
  )
