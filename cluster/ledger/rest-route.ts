/** A path of the mirror REST API below `/api/v1`; groups of the pattern are the path's parameters. */
export interface RestRoute {
  readonly pattern: RegExp;
  /** Throws RestProblem for any answer but 200. */
  answer(url: URL, parameters: readonly string[]): Promise<object> | object;
}
