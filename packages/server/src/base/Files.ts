const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a directory",
  ENAMETOOLONG: "no file has so long a name"
}

/** Why a file cannot be read, in words that complete "…: ". */
export const reasonOf = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  return reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
}

/** A path is shown, and what might be a macaroon with a typing error is not: neither hex nor base64 begins so, or ends so. */
export const isPath = (text: string): boolean => /^(?:\.{0,2}|~|[A-Za-z]:)[/\\]|\.macaroon$/.test(text)
