import { connect } from "node:net"

/**
 * Returns everything that a local server sends in response to `text`, until it closes the connection. `rest` is
 * sent when the response has begun.
 */
export const answerTo = async (port: number, text: string | Uint8Array, rest = ""): Promise<string> => {
  // The server may close the connection while the client sends.
  const socket = connect(port, "127.0.0.1").on("error", () => {})
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve())
  })
  let answer = ""
  socket.setEncoding("utf8").on("data", (part: string) => (answer += part))
  if (rest !== "") socket.once("data", () => socket.write(rest))
  socket.write(text)
  await closed
  return answer
}
