import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The files that take minutes, the longest first: whoever begins one of them last waits for it alone, on one core. */
const longest = [
  "crashes.slow",
  "canary.slow",
  "Simulator.bite.slow",
  "cluster/crash.slow",
  "ways.slow",
  "handler.slow",
  "LdkOffers.bitcoind",
  "killed.btcd"
]

const place = ({ moduleId }: TestSpecification): number => {
  const found = longest.findIndex((name) => moduleId.includes(name))
  return found === -1 ? longest.length : found
}

/** As vitest orders files, but for those that take minutes, which come first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is a method of vitest's, which answers a new array
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => place(one) - place(other))
  }
}
