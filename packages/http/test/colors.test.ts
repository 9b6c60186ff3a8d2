import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Ui from "../src/edge/Ui.ts"
import { start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const linear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
/** Relative luminance as defined by WCAG 2.2, for components from 0 to 255. */
const luminance = ([red = 0, green = 0, blue = 0]: ReadonlyArray<number>): number =>
  0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255)

describe("the color of a checkout", () => {
  it("color: text is legible on any color", async () => {
    const parts = [0, 64, 100, 118, 128, 190, 255]
    const colors = parts.flatMap((red) => parts.flatMap((green) => parts.map((blue) => [red, green, blue])))
    for (const color of colors) {
      const hex = `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`
      const { text, headers } = await service.ask("GET", `/${Ui.colorPath(hex)}`)
      assert.strictEqual(headers.get("cache-control"), "public, max-age=31536000, immutable")
      const [, on] = /--on-accent:(#000|#fff)/.exec(text) ?? []
      const [light, dark] = on === "#fff" ? [1, luminance(color)] : [luminance(color), 0]
      assert.isAtLeast((light + 0.05) / (dark + 0.05), 4.5, hex)
    }
  })

  it("color: an invalid color has no style sheet", async () => {
    for (const name of ["color-red.css", "color-FFFFFF.css", "color-1234567.css", "color-12345g.css"])
      assert.strictEqual((await service.ask("GET", `/ui/${name}`)).status, 404, name)
  })
})
