import type net from "node:net"
import { type ClientOptions, WebSocket } from "ws"

/**
 * Maximum number of fragments of a relay's message, and of chunks in which one frame arrives. Each takes several
 * hundred bytes of memory, even if it has one byte.
 */
export const maxParts = 256

/** Upgrades a guarded connection to a relay. The relay's name is not resolved again. */
export const over = (
  relay: string,
  socket: net.Socket,
  options: Pick<ClientOptions, "finishRequest"> & { readonly maxPayload: number }
) =>
  new WebSocket(relay, {
    createConnection: () => socket,
    perMessageDeflate: false,
    followRedirects: false,
    maxFragments: maxParts,
    maxBufferedChunks: maxParts,
    ...options
  })
