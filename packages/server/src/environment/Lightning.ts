import type { Node } from "../backends/Backend.ts"
import * as Backends from "../backends/Backends.ts"
import { oneOf, type Reader } from "./Variable.ts"

/** The Lightning node. */
export interface Lightning {
  readonly lightning: string
  /** The real one, where `lightning` names one. */
  readonly node: Node | undefined
}

const lightning = {
  name: "LIGHTNING",
  meaning: "The Lightning node; sandbox is a pretend one, for trying and testing",
  fallback: "sandbox",
  ...oneOf("sandbox", ...Backends.all.map(({ name }) => name))
}

export const variables = Object.assign({ lightning }, ...Backends.all.map(({ variables }) => variables))

export const read = (reader: Reader): Lightning => {
  const name = reader.required(lightning)
  const chosen = Backends.all.find((backend) => backend.name === name)
  // A setting of another node's is not used, and told all the same where it is wrong.
  for (const { variables } of Backends.all.filter((backend) => backend !== chosen)) Object.values(variables).forEach(reader.optional)
  return { lightning: name, node: chosen?.read(reader) }
}
