import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Books from "./Books.ts"
import * as Service from "./Service.ts"

/** Interruptions of the service in the middle of a scenario. */
const middles = [
  { title: "", signal: undefined },
  { title: ", even when the service is stopped in the middle", signal: "SIGTERM" },
  { title: ", even when the service is killed in the middle", signal: "SIGKILL" }
] as const

/** The service in a scenario. */
export interface Stage extends Service.Service {
  /**
   * Marks the middle of the scenario. At this point the service continues, or is stopped or killed and then
   * restarted.
   */
  readonly middle: () => Promise<void>
}

type Tell = (title: string, story: (stage: Stage) => Promise<void>) => void

/**
 * Runs scenarios in sequence against one service. Each scenario has its own companies and runs once per
 * interruption. After each scenario the service is stopped and its books are checked.
 */
export const stories = (name: string, tell: (it: Tell) => void): void => {
  describe(`${name}`, () => {
    const all: Array<Service.Service> = []
    let free: Service.Service | undefined
    afterAll(() => Promise.all(all.map((service) => service.end())))

    tell((title, story) => {
      for (const { title: also, signal } of middles) {
        it(`${title}${also}`, async ({ onTestFailed }) => {
          const service = free ?? Service.make()
          if (free === undefined) all.push(service)
          free = undefined // until the scenario succeeds, so that a failed scenario's leftovers cannot affect the next one
          onTestFailed(async () => {
            await service.end() // all of its output has been read by then
            console.error(service.logs().join("\n"))
          })
          let times = 0
          const middle = async () => {
            times++
            if (signal === undefined) return
            await service.stop(signal)
            await service.start()
          }
          await service.start()
          await story({ ...service, middle })
          assert.isAbove(times, 0, "the scenario calls `middle`")
          await service.stop("SIGTERM")
          await Books.areRight(service.data)
          free = service
        })
      }
    })

    it("C56: log: every line is JSON, and none contains a key or a preimage", () => {
      const logs = all.flatMap((service) => service.logs())
      const secrets = all.flatMap((service) => service.secrets())
      assert.isNotEmpty(logs)
      assert.isNotEmpty(secrets)
      for (const line of logs) {
        const { message, level, timestamp } = JSON.parse(line)
        assert.isDefined(message)
        assert.isString(level)
        assert.isString(timestamp)
        assert.deepStrictEqual(
          secrets.filter((secret) => line.includes(secret)),
          []
        )
      }
    })
  })
}
