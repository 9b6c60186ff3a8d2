import { assert, describe, it } from "@effect/vitest"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Grounds from "./grounds/grounds.ts"
import { day } from "./grounds/program.ts"

const inMemory = async () => {
  const pay = await Grounds.inMemory()
  const results = await day(pay, pay.outside.pay)
  await pay.close()
  return results
}

const kept = async (open: (directory: string) => ReturnType<typeof Grounds.embedded>) => {
  const directory = mkdtempSync(path.join(tmpdir(), "satrail-grounds-"))
  try {
    const pay = await open(directory)
    const results = await day(pay, pay.outside.pay)
    await pay.close()
    return results
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

it("client: a program does the same in memory and on the embedded database", async () => {
  assert.deepStrictEqual(await kept(Grounds.embedded), await inMemory())
})

const installation = PostgresServer.find()

describe.skipIf("missing" in installation)("one program on PostgreSQL (skipped where there is none)", () => {
  if ("missing" in installation) return

  it("client: a program does the same in memory and on PostgreSQL", async () => {
    const server = await PostgresServer.start(installation)
    try {
      const results = await kept((directory) => Grounds.postgres(directory, server.url))
      assert.deepStrictEqual(results, await inMemory())
    } finally {
      await server.end()
    }
  })
})
