/** `refused`: the chain's node answered that it will not. `unreachable`: it did not answer. */
export type ChainErrorCode = 'unreachable' | 'refused';

/**
 * Why the chain could not be read. Holds no cause and no text of the client: both name the URL of the chain's node, and
 * providers put keys into those.
 */
export class ChainError extends Error {
  override readonly name = 'ChainError';
  readonly code: ChainErrorCode;

  constructor(code: ChainErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
