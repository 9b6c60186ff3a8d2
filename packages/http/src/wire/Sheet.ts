import type * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "@satrail/core/base/Decimal"
import { cell } from "@satrail/ui/Cell"
import { Context, Effect, Layer, Option, Schema, Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import * as Errors from "./Errors.ts"

// Tables are streamed page by page, as CSV for spreadsheets (RFC 4180) or as JSON Lines for programs. Only one
// page of rows is in memory.

export const formats = ["csv", "jsonl"] as const
export const Format = Schema.Literals(formats).annotate({
  description: "`csv`: RFC 4180, with a header line. `jsonl`: one JSON object per line"
})
export type Format = typeof Format.Type

/** An exact number in decimal digits, whatever precision its reader supports. */
export interface Numeral {
  readonly digits: string
}

/** A string, number, structured value, or nothing. */
export type Cell = string | number | Numeral | { readonly json: unknown } | null

export interface Column<Row> {
  readonly name: string
  readonly of: (row: Row) => Cell
}

/** Satoshis, exact to the msat: 1 500 500 msat are 1500.5. */
export const sats = (amount: Msat.Msat): Numeral => ({
  digits: amount % 1000n === 0n ? (amount / 1000n).toString() : Decimal.format(Decimal.make(amount, 3))
})

const isNumeral = (given: object): given is Numeral => "digits" in given

const csvCell = (given: Cell): string => {
  if (given === null || typeof given !== "object") return cell(given)
  return isNumeral(given) ? given.digits : cell(given.json)
}

const jsonCell = (given: Cell): string => {
  if (given === null || typeof given === "string" || typeof given === "number") return JSON.stringify(given)
  return isNumeral(given) ? given.digits : JSON.stringify(given.json)
}

const csvLine = (cells: ReadonlyArray<Cell>): string => `${cells.map(csvCell).join(",")}\r\n`

/** Returns a function that renders one row. */
const lineOf = <Row>(columns: ReadonlyArray<Column<Row>>, format: Format): ((row: Row) => string) => {
  if (format === "csv") return (row) => csvLine(columns.map(({ of }) => of(row)))
  const names = columns.map(({ name }) => `${JSON.stringify(name)}:`)
  return (row) => `{${columns.map(({ of }, n) => `${names[n]}${jsonCell(of(row))}`).join(",")}}\n`
}

const contentTypes = {
  csv: "text/csv; charset=utf-8; header=present",
  jsonl: "application/x-ndjson"
} as const

/** Schemas of a response that is a table, one for each format. */
export const success = [
  Schema.String.pipe(HttpApiSchema.asText({ contentType: contentTypes.csv })),
  Schema.String.pipe(HttpApiSchema.asText({ contentType: contentTypes.jsonl }))
] as const

/**
 * Maximum number of concurrent tables in a process, per company (or the operator) and in total. Half of the slots
 * are only for those that have none, so that a few cannot take all.
 */
export const maxTables = { each: 2, all: 8 } as const

/** Number of rows sent at a time, because a row of a payment with large metadata can have 200 KB. */
export const rowsPerPart = 25

const makePlaces = () => {
  const taken = new Map<string, number>()
  let all = 0
  const leave = (owner: string) => {
    all--
    const left = (taken.get(owner) ?? 1) - 1
    if (left === 0) taken.delete(owner)
    else taken.set(owner, left)
  }
  return Effect.fnUntraced(function* (owner: string) {
    const most = all < maxTables.all / 2 ? maxTables.each : 1
    if ((taken.get(owner) ?? 0) >= most || all >= maxTables.all)
      return yield* Effect.fail(
        Errors.failure(
          "overloaded",
          `The limit of ${most === 1 ? "1 export" : `${most} exports`} at a time, or ${maxTables.all} for all companies, is reached. Try again later.`
        )
      )
    all++
    taken.set(owner, (taken.get(owner) ?? 0) + 1)
    const request = yield* Effect.serviceOption(Scope.Scope)
    const left = Effect.sync(() => leave(owner))
    yield* Option.match(request, { onNone: () => left, onSome: (scope) => Scope.addFinalizer(scope, left) })
  })
}

/**
 * Limits how many tables a process sends at the same time. A slot becomes free when the response ends or its
 * reader disconnects.
 */
export class Places extends Context.Service<Places, ReturnType<typeof makePlaces>>()(
  "@satrail/http/wire/Sheet/Places"
) {}

export const layerPlaces = Layer.sync(Places, makePlaces)

/**
 * Responds with rows as a file. The stream waits for a slow reader and stops when the reader disconnects. An
 * outage or shutdown aborts the transfer, so that an incomplete file is not mistaken for a complete one.
 */
export const answer = <Row, E>(
  rows: Stream.Stream<Row, E>,
  {
    columns,
    format,
    name
  }: { readonly columns: ReadonlyArray<Column<Row>>; readonly format: Format; readonly name: string }
): HttpServerResponse.HttpServerResponse => {
  const line = lineOf(columns, format)
  const encoder = new TextEncoder()
  const header =
    format === "csv" ? Stream.succeed(encoder.encode(csvLine(columns.map(({ name }) => name)))) : Stream.empty
  const body = Stream.mapArray(
    Stream.rechunk(rows, rowsPerPart),
    (part) => [encoder.encode(part.map(line).join(""))] as const
  )
  return HttpServerResponse.stream(Stream.concat(header, body), {
    contentType: contentTypes[format],
    headers: {
      "content-disposition": `attachment; filename="${name}.${format}"`,
      "cache-control": "no-store",
      "x-accel-buffering": "no"
    }
  })
}
