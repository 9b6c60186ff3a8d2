// `npm run screens -- --out DIR`: what every state of the checkout looks like, on a phone, a small phone and a desktop, light and dark, with a page that shows them all.
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"

const { values } = parseArgs({ options: { out: { type: "string" } } })
const out = values.out
if (out === undefined || isMissing) {
  console.error(out === undefined ? "npm run screens -- --out DIR" : "there is no chromium to take screenshots with")
  process.exit(1)
}
mkdirSync(out, { recursive: true })

const [browser, started] = await Promise.all([launch(), Checkouts.start()])
const names: Array<string> = []
try {
  for (const [state, url] of await Checkouts.states(started))
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [320, 390, 1440]) {
        const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } })
        const page = await context.newPage()
        await page.goto(url)
        const name = `${state}-${width}-${colorScheme}.png`
        await page.screenshot({ path: path.join(out, name), fullPage: true, animations: "disabled" })
        names.push(name)
        await context.close()
      }
} finally {
  await browser.close()
  await started.whole.end()
}
const figures = names.map(
  (name) => `<figure><figcaption>${name}</figcaption><img src="${name}" alt="${name}" height="420" loading="lazy"></figure>`
)
const style = "body{font:1rem system-ui;display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}"
writeFileSync(
  path.join(out, "index.html"),
  `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Screens</title>\n<style>${style}</style>\n${figures.join("\n")}\n</html>\n`
)
console.log(`${names.length} screenshots: ${path.join(out, "index.html")}`)
process.exit(0)
