import path from "node:path"
import { type LdkOptions, type Lightning, ldk as lightning, OptionsInvalid } from "satrail"
import { program as installed } from "./Program.ts"

/** The operating system limits the length of a Unix socket's path. */
const maxSocketBytes = process.platform === "darwin" ? 103 : 107

export interface Options extends Omit<LdkOptions, "socket"> {
  /**
   * The directory for the node's keys and channels. It must be on a local disk, and is created at the first
   * start. Never run a node with a copy of this directory.
   */
  readonly directory: string | undefined
  /** The Unix socket between this process and the node. Default: the file `socket` in `directory`. */
  readonly socket?: string | undefined
  /** The path of a `satrail-ldk` binary that you built. Default: the prebuilt binary. */
  readonly program?: string | undefined
}

/**
 * Runs a Lightning node: starts it, restarts it whenever it exits, and stops it together with the service.
 *
 * @example
 * const pay = await satrail({ network: "signet", lightning: ldk({ directory: "./node", esplora: "https://mempool.space/signet/api" }) })
 */
export const ldk = (options: Options): Lightning => {
  const { directory, socket, program, ...others }: Options = Object(options)
  if (typeof directory !== "string" || directory === "")
    throw new OptionsInvalid(
      `ldk's directory must be the path of a directory (got ${JSON.stringify(directory)})`
    )
  if ((others.bitcoind === undefined) === (others.esplora === undefined))
    throw new OptionsInvalid(
      "ldk needs either bitcoind (http://user:password@host:port) or esplora (https://…)"
    )
  const at = path.resolve(socket ?? path.join(directory, "socket"))
  const bytes = Buffer.byteLength(at)
  if (bytes > maxSocketBytes)
    throw new OptionsInvalid(
      `ldk's socket must be a path of at most ${maxSocketBytes} bytes (got ${bytes}): ${at}`
    )
  return lightning({
    ...others,
    directory: path.resolve(directory),
    socket: at,
    program: program ?? installed()
  })
}
