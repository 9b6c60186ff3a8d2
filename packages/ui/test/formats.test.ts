import { assert, it, vi } from "@effect/vitest"
import * as Format from "../src/console/Format.ts"
import { type Content, page } from "../src/Html.ts"

it("console: formatters are reused within a time zone, and those of many time zones are not all kept", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat")
  try {
    const count = (zone: string) => {
      const before = made.mock.calls.length
      Format.startOfDay("2026-01-15", zone)
      return made.mock.calls.length - before
    }
    const offsets = Array.from(
      { length: 1000 },
      (_, n) => `+${String(Math.floor(n / 60)).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}`
    )
    // Twice: another test may have used the zone before.
    for (const _ of [1, 2]) {
      for (const zone of offsets) count(zone)
      assert.deepStrictEqual([count("Europe/Berlin"), count("Europe/Berlin")], [1, 0])
    }
  } finally {
    made.mockRestore()
  }
})

it("console: a day starts at its first moment in its time zone, also where clocks change or noon in UTC falls on another day", () => {
  const start = (day: string, zone: string) => new Date(Format.startOfDay(day, zone)).toISOString()
  for (const [day, zone, expected] of [
    ["2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00.000Z"],
    ["2026-03-30", "Europe/Berlin", "2026-03-29T22:00:00.000Z"],
    ["2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00.000Z"],
    ["2026-10-26", "Europe/Berlin", "2026-10-25T23:00:00.000Z"],
    ["2026-01-15", "Pacific/Auckland", "2026-01-14T11:00:00.000Z"],
    ["2026-01-15", "Pacific/Kiritimati", "2026-01-14T10:00:00.000Z"],
    ["2026-01-15", "Etc/GMT+12", "2026-01-15T12:00:00.000Z"],
    // Clocks skip midnight, or repeat the hour before or after it.
    ["2026-09-06", "America/Santiago", "2026-09-06T04:00:00.000Z"],
    ["2026-04-05", "America/Santiago", "2026-04-05T04:00:00.000Z"],
    ["2026-10-25", "Atlantic/Azores", "2026-10-25T00:00:00.000Z"]
  ] as const)
    assert.strictEqual(start(day, zone), expected, `${day} ${zone}`)
})

it("console: amounts of one satoshi have a singular unit", () => {
  assert.deepStrictEqual([0, 1, 21_000].map(Format.inSats), ["0 sats", "1 sat", "21,000 sats"])
  assert.deepStrictEqual([1, 1.5, 0.001].map(Format.exactSats), ["1 sat", "1.5 sats", "0.001 sats"])
  assert.strictEqual(Format.unit(-1), "sat")
})

it("console: the labels on the axes of a balance differ, also if the balance hardly changes", async () => {
  // Imported without its types, which would bring those of the DOM into the other tests.
  const { line }: { readonly line: (say: Format.Format, points: ReadonlyArray<object>) => Content } =
    await import(new URL("../src/console/Chart.ts", import.meta.url).href)
  for (const [perBitcoin, ...balances] of [
    [46_000, 26_847_090],
    [46_000, 24_961_000, 26_847_090],
    [46_000, 999_999, 1_000_001],
    [46_000, 0],
    [46_000, 1],
    [46_000, 2_100_000_000_000_000],
    // Steps of 1 BTC / 100 would be labeled 97.6K, 98.6K, 99.5K, 101K and 101K.
    [97_581, 100_000_000]
  ] as const) {
    const points = balances.map((sats, n) => ({ atMillis: n * 86_400_000, sats, href: "" }))
    const price = { currency: "eur", perBitcoin, currencies: ["eur"] }
    const text = page({ title: "", icon: "", body: line(Format.make({ zone: "UTC" }, price, 0), points) })
    for (const side of ["y", "z"]) {
      const [, labels = ""] = new RegExp(`<div class="${side}"[^>]*>(.*?)</div>`).exec(text) ?? []
      assert.strictEqual(new Set(labels.match(/[^<>]+(?=<\/span>)/g)).size, 5, `${balances}: ${labels}`)
    }
  }
})

it("console: a value of less than a currency's smallest unit is not shown as zero", () => {
  const texts = ([currency, amount]: readonly [string | null, number]) => Format.fiatText(amount, currency)
  assert.deepStrictEqual(
    (
      [
        ["eur", 0.0009],
        ["eur", 0.01],
        ["eur", 0],
        ["jpy", 0.6],
        ["jpy", 1],
        [null, 0.001]
      ] as const
    ).map(texts),
    ["< €0.01", "€0.01", "€0.00", "< ¥1", "¥1", "< 0.01"]
  )
})

it("console: the sum of a list's payments has no sign before a value of less than a currency's smallest unit, or without a value", async () => {
  const {
    payments
  }: { readonly payments: { readonly get: (visit: object) => Promise<{ readonly body: Content }> } } =
    await import(new URL("../../service/src/console/pages/Payments.ts", import.meta.url).href)
  const row = {
    id: "0",
    type: "adjustment",
    status: "settled",
    fee_sats: 0,
    created_at: "2026-01-31T12:00:00Z"
  }
  const change = async (amount_sats: number, price: Format.Price | undefined) => {
    const api = {
      page: async () => ({ data: [{ ...row, amount_sats }], characters: 0 }),
      payments: async () => []
    }
    const visit = {
      api,
      to: (path: string) => path,
      say: Format.make({ zone: "UTC" }, price, 0),
      query: new URLSearchParams()
    }
    const text = page({ title: "", icon: "", body: (await payments.get(visit)).body })
    return /<dt>Change<\/dt>.*?<small>(.*?)<\/small>/.exec(text)?.[1]
  }
  const price = { currency: "eur", perBitcoin: 46_000, currencies: ["eur"] }
  assert.deepStrictEqual(
    [await change(-1000, price), await change(-10, price), await change(-1000, undefined)],
    ["−€0.46", "&lt; €0.01", undefined]
  )
})
