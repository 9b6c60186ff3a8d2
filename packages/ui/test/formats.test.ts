import { assert, it, vi } from "@effect/vitest"
import * as Format from "../src/console/Format.ts"

it("console: formatters are reused within a time zone, and those of many time zones are not all kept", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat")
  try {
    const count = (zone: string) => {
      const before = made.mock.calls.length
      Format.startOfDay(0, zone)
      return made.mock.calls.length - before
    }
    const offsets = Array.from(
      { length: 1000 },
      (_, n) => `+${String(Math.floor(n / 60)).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}`
    )
    assert.deepStrictEqual([count("Europe/Berlin"), count("Europe/Berlin")], [1, 0])
    for (const zone of offsets) count(zone)
    assert.strictEqual(count("Europe/Berlin"), 1)
  } finally {
    made.mockRestore()
  }
})
