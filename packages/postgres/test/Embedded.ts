import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as PgliteClient from "../src/client/PgliteClient.ts"

/** A client of an empty embedded database, which is removed when the scope closes. */
export const layer = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "satrail-embedded-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    ),
    (directory) => PgliteClient.layer({ directory })
  )
)
