import * as Signatures from "@satrail/bitcoin/Signatures"
import { Signer, SignerUnavailable } from "@satrail/core/nodes/Signer"
import * as Payout from "@satrail/core/sending/Payout"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { hex } from "@scure/base"

/** The program that signs. */
export interface Options {
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** Signing timeout. Increase it if someone must press a button, up to 10 minutes. Default 60 s. */
  readonly patienceMillis?: number
}

/** Default signing timeout. */
export const signMillis = 60_000

const maxAnswerBytes = 4 * 1024 * 1024

/**
 * Passes `input` to the program's standard input and returns its standard output. Its standard error goes to
 * this process's standard error.
 */
const ask = ({ command, args = [], patienceMillis = signMillis }: Options, input: string) =>
  Effect.callback<string, Error>((resume) => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], detached: true })
    // Ends the whole process group. The program may be a script, whose own child would otherwise go on signing and
    // keep the output open.
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
    }
    const timer = setTimeout(kill, patienceMillis)
    let answer = ""
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      answer += part
      if (answer.length > maxAnswerBytes) kill()
    })
    child.stdin.on("error", () => undefined) // the program exited before it read its input; its exit code reports that
    child.on("error", (cause) => {
      clearTimeout(timer)
      resume(Effect.fail(cause))
    })
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      resume(
        code === 0 && answer.length <= maxAnswerBytes
          ? Effect.succeed(answer)
          : Effect.fail(
              new Error(`${command} ended with ${code === null ? String(signal) : `status ${code}`}`)
            )
      )
    })
    child.stdin.end(`${input}\n`)
    return Effect.sync(kill)
  })

/**
 * Signs in another process, which has the keys. It reads a PSBT (BIP 174, base64) from standard input and
 * writes the signed one to standard output.
 */
export const make = (options: Options) =>
  Signer.of({
    sign: (psbt) =>
      Effect.gen(function* () {
        const draft = Payout.fromPsbt(psbt)
        const answer = yield* ask(options, psbt)
        const tx = Payout.fromPsbt(answer.trim())
        // Accept only a signature of the given transaction.
        if (hex.encode(tx.unsignedTx) !== hex.encode(draft.unsignedTx))
          throw new Error(`${options.command} signed a different transaction`)
        const signed = Payout.finished(tx)
        const spent = Payout.spent(draft)
        // A stored transaction is never given up, so a wrong signature would hold the money and the coins forever.
        for (const index of spent.keys()) {
          if (!Signatures.isSigned(signed.rawTx, spent, index))
            throw new Error(`${options.command} made a wrong signature for input ${index}`)
          yield* Effect.yieldNow
        }
        return signed
      }).pipe(
        Effect.catchDefect((cause) => Effect.fail(cause)),
        Effect.mapError((cause) => new SignerUnavailable({ cause }))
      )
  })

export const layer = (options: Options) => Layer.succeed(Signer, make(options))
