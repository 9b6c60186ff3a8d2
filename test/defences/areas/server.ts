import { type Canary } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "any-accepted-version",
    rows: [59],
    bug: "accepting one faulty version of a node accepts all of them",
    file: "packages/server/src/backends/KnownFaults.ts",
    in: "lines",
    find: "accept.version === version",
    replace: "accept.version !== undefined",
    test: "packages/server/test/check.test.ts",
    titles: "a version of lnd other than the accepted one"
  }
]
