import { afterAll, assert, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { deleteLarge } from "./bytecode.ts"

const work = mkdtempSync(path.join(os.tmpdir(), "satrail-bytecode-"))
afterAll(() => rmSync(work, { recursive: true }))

it("bytecode: only a folder with more files than the limit is deleted, and one that cannot be read stops no run of tests", () => {
  const folder = path.join(work, "node")
  for (const version of ["v24", "v26"]) {
    mkdirSync(path.join(folder, version), { recursive: true })
    for (const file of ["a", "b"]) writeFileSync(path.join(folder, version, file), "")
  }
  deleteLarge(folder, 4)
  assert.isTrue(existsSync(folder))
  deleteLarge(folder, 3)
  assert.isFalse(existsSync(folder))
  deleteLarge(folder, 3)
  // Fails when it is listed, like a folder that another run deletes at the same time.
  writeFileSync(folder, "")
  deleteLarge(folder, 3)
})
