/** Of a path that is a secret itself. */
const SECRET_PARAMETER = /:token\b/;

/** Of every answer under a path that is a secret: no page that is opened next learns it, and no search engine keeps it. */
export const SECRET_PATH_HEADERS: Readonly<Record<string, string>> = {
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

/** Whether whoever knows the path of a route may do what it does. */
export function holdsSecret(path: string): boolean {
  return SECRET_PARAMETER.test(path);
}

/**
 * Paths as they are logged, and told in problems: what stands where a secret may is never repeated, whatever the method
 * and whether there is such a path or not.
 */
export class SecretPaths {
  /** What stands before a secret, and the pattern that is shown. */
  readonly #patterns: ReadonlyMap<string, string>;

  /** `paths`: of all routes, as patterns. */
  constructor(paths: readonly string[]) {
    const secret = paths.filter(holdsSecret);
    const before = secret.map((path) => path.slice(0, path.search(SECRET_PARAMETER)));
    this.#patterns = new Map(before.map((start) => [start, `${start}:token`]));
  }

  /** The path of a request, or the pattern in its place. A target as `http://` has none, whatever the types say. */
  shown(path: string): string {
    for (const [before, pattern] of this.#patterns) {
      if (path?.startsWith(before) && path.length > before.length) return pattern;
    }
    return path;
  }
}
