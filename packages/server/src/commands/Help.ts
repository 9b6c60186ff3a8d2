/** Reads `help keys issue` as `keys issue --help`, as other command lines do. */
export const withHelp = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, ...others] = args
  return first === "help" ? [...others, "--help"] : args
}
