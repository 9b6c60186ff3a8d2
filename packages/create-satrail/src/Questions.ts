import { createInterface } from "node:readline/promises"

/** The user pressed Ctrl-C, or closed the input. */
export class Canceled extends Error {
  override readonly message = "Canceled. Nothing was written."
}

/** Asks questions in a terminal. */
export const questions = (input: NodeJS.ReadableStream, output: NodeJS.WritableStream) => {
  const lines = createInterface({ input, output, terminal: true })
  const closed = new AbortController()
  lines.once("close", () => closed.abort())
  const ask = async (question: string): Promise<string> => {
    try {
      return await lines.question(question, { signal: closed.signal })
    } catch (cause) {
      if (!closed.signal.aborted) throw cause
      throw new Canceled()
    }
  }
  return { ask, close: () => lines.close() }
}
