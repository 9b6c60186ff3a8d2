const reasons: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  ENOTDIR: "the file does not exist",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a directory",
  ENAMETOOLONG: "the file name is too long"
}

/** Returns why a file cannot be read, as text that follows "…: ". */
export const reasonOf = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  return reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
}

/**
 * Returns whether a string is certainly a path, not a secret, so that it can be shown. A misspelled macaroon
 * never passes, because neither hex nor base64 begins or ends this way.
 */
export const isPath = (text: string): boolean => /^(?:\.{0,2}|~|[A-Za-z]:)[/\\]|\.macaroon$/.test(text)
