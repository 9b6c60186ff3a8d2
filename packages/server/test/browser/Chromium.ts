import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/** Debian's, or another one that CHROMIUM names. */
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium"

/** Whether there is none, which is said once, and is an error where the tests must not be without. */
export const isMissing = !existsSync(executablePath)
if (isMissing && process.env["REQUIRE_CHROMIUM"] === "1") throw new Error(`there is no ${executablePath} (apt-get install chromium)`)
if (isMissing) console.warn(`the pages are not looked at in a browser: there is no ${executablePath}`)

/** As root it cannot have a sandbox of its own, and what it shows is ours. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] })
