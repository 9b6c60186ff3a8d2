import path from "node:path"
import { type LdkOptions, type Lightning, ldk as lightning, OptionsInvalid } from "satrail"
import { program as installed } from "./Program.ts"

/** The operating system limits the length of a Unix socket's path. */
const maxSocketBytes = process.platform === "darwin" ? 103 : 107

export interface Options extends Omit<LdkOptions, "socket"> {
  /**
   * The directory of the node's keys and channels, on a local disk. It is created at the first start. Never run
   * a node from a copy of it.
   */
  readonly directory: string | undefined
  /** The Unix socket between this process and the node. Default: the file `socket` in the directory. */
  readonly socket?: string | undefined
  /** The path of a `satrail-ldk` binary that you built. Default: the prebuilt binary. */
  readonly program?: string | undefined
}

/**
 * Runs a Lightning node. Starts it, restarts it when it exits, and stops it with the service.
 *
 * @example
 * const pay = await satrail({ network: "signet", lightning: ldk({ directory: "./node", esplora: "https://mempool.space/signet/api" }) })
 */
export const ldk = ({ directory, socket, program, ...others }: Options): Lightning => {
  if (typeof directory !== "string" || directory === "")
    throw new OptionsInvalid(`ldk's directory must be the path of a directory (got ${JSON.stringify(directory)})`)
  if ((others.bitcoind === undefined) === (others.esplora === undefined))
    throw new OptionsInvalid("ldk needs either bitcoind (http://user:password@host:port) or esplora (https://…)")
  const at = path.resolve(socket ?? path.join(directory, "socket"))
  const bytes = Buffer.byteLength(at)
  if (bytes > maxSocketBytes)
    throw new OptionsInvalid(`ldk's socket must be a path of at most ${maxSocketBytes} bytes (got ${bytes}): ${at}`)
  return lightning({ ...others, directory: path.resolve(directory), socket: at, program: program ?? installed() })
}
