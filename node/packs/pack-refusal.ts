/** Why a pack is not to be had. The message is for the caller. */
export type PackRefusalCode = 'as-of-unavailable' | 'pack-not-found' | 'pack-not-ready' | 'packs-busy';

export class PackRefusal extends Error {
  override readonly name = 'PackRefusal';
  readonly code: PackRefusalCode;
  /** When the caller may come back, in seconds; undefined: never. */
  readonly retrySeconds: number | undefined;

  constructor(code: PackRefusalCode, message: string, retrySeconds?: number) {
    super(message);
    this.code = code;
    this.retrySeconds = retrySeconds;
  }
}
