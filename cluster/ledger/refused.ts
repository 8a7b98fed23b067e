import { codeName } from './wire.ts';

/** A transaction or query that the ledger does not accept, with the HAPI response code that says why. */
export class Refused extends Error {
  readonly code: number;
  /** Fee that would have been needed, in tinybars; zero where the refusal is not about the fee. */
  readonly cost: bigint;

  constructor(code: number, cost = 0n) {
    super(codeName(code));
    this.name = 'Refused';
    this.code = code;
    this.cost = cost;
  }
}
