/** Records that a log is to append in its own process, asked of that process. */
export interface AppendQuestion {
  /** Records of one append. */
  readonly batch: number;
  readonly seconds: number;
}
