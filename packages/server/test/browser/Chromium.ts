import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const shell = "/usr/bin/chromium-headless-shell"

/**
 * Debian's Chromium: its headless shell if it is installed, which takes half the processor time. CHROMIUM names
 * another browser.
 */
const executablePath = process.env["CHROMIUM"] ?? (existsSync(shell) ? shell : "/usr/bin/chromium")

/** True if Chromium is missing. This is logged once, or is an error if REQUIRE_CHROMIUM is set. */
export const isMissing = !existsSync(executablePath)
if (isMissing && process.env["REQUIRE_CHROMIUM"] === "1")
  throw new Error(`there is no ${executablePath} (apt-get install chromium-headless-shell)`)
if (isMissing) console.warn(`the pages are not tested in a browser: there is no ${executablePath}`)

/** Chromium has no sandbox when run as root. It shows only our own pages here. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] })
