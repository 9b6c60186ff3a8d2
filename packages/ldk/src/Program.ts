import { createRequire } from "node:module"

/** Platforms with a prebuilt program. Each program is in an optional dependency of this package. */
export const platforms = ["linux-x64", "linux-arm64"] as const

/** The package that contains the program for a platform. */
export const packageOf = (platform: (typeof platforms)[number]) => `@satrail/ldk-${platform}`

/** The program is not installed, or does not exist for this kind of machine. */
export class ProgramMissing extends Error {
  readonly _tag = "ProgramMissing"
  override readonly name = "ProgramMissing"
  readonly code = "ldk_program_missing"
  readonly isRetryable = false
}

const require = createRequire(import.meta.url)

/** Returns the path of satrail-ldk for this machine. */
export const program = (machine = `${process.platform}-${process.arch}`): string => {
  const platform = platforms.find((one) => one === machine)
  if (platform === undefined)
    throw new ProgramMissing(
      `there is no prebuilt satrail-ldk for ${machine}, only for ${platforms.join(" and ")}: on macOS, build it and pass its path as program (docs/guides/ldk.md); elsewhere, run in a Linux container or use lnd`
    )
  const name = packageOf(platform)
  try {
    return require.resolve(`${name}/satrail-ldk`)
  } catch (cause) {
    throw new ProgramMissing(
      `${name} is not installed: run npm install ${name}, without --omit=optional and on a system with glibc (Alpine has none)`,
      { cause }
    )
  }
}
