import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * The files that take minutes, the longest first. If one of them started last, the run would wait for it while
 * only one core is busy.
 */
const longest = [
  "install.slow",
  "crashes.slow",
  "cluster/crash.slow",
  "canary.slow",
  "create.slow",
  "killed.slow",
  "pglite.slow",
  "LdkOffers.bitcoind",
  "killed.btcd"
]

const place = ({ moduleId }: TestSpecification): number => {
  const found = longest.findIndex((name) => moduleId.includes(name))
  return found === -1 ? longest.length : found
}

/** Keeps vitest's order, except that files that take minutes come first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's own method, which returns a new array
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => place(one) - place(other))
  }
}
