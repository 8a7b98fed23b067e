/** `unknown-key`: this node never certified it. `in-future`: a time that has not come yet. */
export type OwnKeyFault = 'unknown-key' | 'in-future';

/** A signing key of this node cannot be dealt with as asked. */
export class OwnKeyError extends Error {
  override readonly name = 'OwnKeyError';
  readonly fault: OwnKeyFault;

  constructor(fault: OwnKeyFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
