import { Console, type Layer } from "effect"
import { CliOutput } from "effect/cli"
import type { HelpDoc } from "effect/cli/HelpDoc"

/** Returns a command's usage: its arguments, its required flags, and whether it has other flags. */
const usage = ({ usage, flags }: HelpDoc): string => {
  const required = flags.filter(({ required }) => required).map(({ name, type }) => `--${name} <${type}>`)
  const [before = "", after = ""] = usage.split(" [flags]")
  const others = flags.length > required.length ? ["[flags]"] : []
  return [before, ...required, ...others].join(" ") + after
}

/** Formats an invalid command: the errors, then the usage, then a reference to `--help`. */
const invalid = ({ commandPath, errors, helpDoc }: CliOutput.Presenter.InvalidInvocation): string =>
  [
    ...errors.map(({ message }) => message),
    "",
    `Usage: ${usage(helpDoc)}`,
    `\`${commandPath.join(" ")} --help\` describes ${helpDoc.subcommands === undefined ? "its options" : "its commands"}.`
  ].join("\n")

/** Prints errors and a short usage on standard error. */
export const layer: Layer.Layer<never> = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(invalid(event))
      : CliOutput.defaultPresenter.present(event)
})
