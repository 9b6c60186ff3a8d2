import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/**
 * Debian's Chromium without a window, which takes half the processor time of the whole browser, or that one.
 * CHROMIUM names another.
 */
const [shell, whole] = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]
const executablePath = process.env["CHROMIUM"] ?? (existsSync(shell) ? shell : whole)

/** True if Chromium is missing. This is logged once, or is an error if REQUIRE_CHROMIUM is set. */
export const isMissing = !existsSync(executablePath)
if (isMissing && process.env["REQUIRE_CHROMIUM"] === "1") throw new Error(`there is no ${shell} (apt-get install chromium-headless-shell)`)
if (isMissing) console.warn(`the pages are not tested in a browser: there is no ${shell}`)

/** Chromium has no sandbox when run as root. It shows only our own pages here. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] })
