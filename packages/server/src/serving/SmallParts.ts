import { IncomingMessage } from "node:http"

/**
 * Number of parts (chunks, or reads of the connection) of a body, and the mean size in bytes that all further ones
 * must have. Node passes each part on as an object, so a body in chunks of one byte costs hundreds of times its size.
 */
export const smallParts = { count: 4096, meanBytes: 64 } as const

/** Makes the class of requests. `refuse` is called once for a body in too many small parts, which is not read further. */
export const limited = (refuse: (request: IncomingMessage) => void): typeof IncomingMessage =>
  class extends IncomingMessage {
    #parts = 0
    #bytes = 0
    #isRefused = false

    override push(part: Uint8Array | null, encoding?: BufferEncoding): boolean {
      if (part !== null) {
        this.#bytes += part.length
        if (!this.#isRefused && ++this.#parts > smallParts.count + this.#bytes / smallParts.meanBytes) {
          this.#isRefused = true
          refuse(this)
        }
        // The rest of the current read.
        if (this.#isRefused) return false
      }
      return super.push(part, encoding)
    }

    /**
     * Node calls this internal method to discard the rest of a body whose response has been sent. Its own would no
     * longer pass parts to `push`.
     */
    _dump(): void {
      this.removeAllListeners("data")
      this.resume()
    }
  }
