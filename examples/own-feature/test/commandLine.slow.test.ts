import { afterAll, assert, it } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"

const [own, bundled] = ["../satrail.ts", "../../../packages/server/src/bin.ts"].map((file) =>
  path.join(import.meta.dirname, file)
) as [string, string]
const data = mkdtempSync(path.join(os.tmpdir(), "satrail-own-feature-"))
const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: "0", SATRAIL_DATA: data }
afterAll(() => rmSync(data, { recursive: true, force: true }))

const verified = (program: string) =>
  new Promise<readonly [number, string]>((resolve) => {
    const ran = execFile(process.execPath, [program, "verify", "--json"], { env }, (_, stdout) =>
      resolve([ran.exitCode ?? -1, stdout])
    )
  })

it("own feature: the program's command line starts a service with the feature, and verifies its money", async () => {
  const service = spawn(process.execPath, [own, "start"], { env, stdio: ["ignore", "pipe", "ignore"] })
  let said = ""
  service.stdout.setEncoding("utf8").on("data", (text: string) => (said += text))
  try {
    await eventually(
      "a start",
      async () => said,
      (text) => text.includes("Ctrl-C")
    )
    const url = /running at (http:\S+),/.exec(said)?.[1] ?? assert.fail(said)
    const key = JSON.parse(readFileSync(path.join(data, "demo.json"), "utf8")).api_key
    const ask = async (route: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const response = await fetch(url + route, { method: "POST", headers, body: JSON.stringify(body) })
      const text = await response.text()
      assert.isTrue(response.ok, text)
      return JSON.parse(text).data
    }
    const invoice = await ask("/v1/bitcoin/deposit/lightning-invoice", { amount: 1000, currency: "sats" })
    await ask("/sandbox/pay", { payment_request: invoice.payment_request })
    const box = { amount_sats: 600, label: "Rent", opens_at: "2100-01-01T00:00:00Z" }
    await eventually(
      "the payment",
      () =>
        ask("/v1/boxes", box).then(
          () => true,
          () => false
        ),
      (isFilled) => isFilled
    )
  } finally {
    service.kill("SIGTERM")
    await once(service, "exit")
  }
  assert.deepInclude(JSON.parse((await verified(own))[1]), { sound: true, faults: [] })
  // The bundled program does not know the feature's records, so its money has no explanation.
  const [code, report] = await verified(bundled)
  assert.deepStrictEqual([code, JSON.parse(report).sound], [2, false])
})
