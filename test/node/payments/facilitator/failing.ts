import * as assert from 'uvu/assert';
import { FacilitatorError } from '../../../../node/payments/facilitator/facilitator-error.ts';

/** Asserts that work fails as a facilitator's does, with this code and, where given, this reason. */
export async function fails(work: Promise<unknown>, code: FacilitatorError['code'], reason?: string): Promise<void> {
  let failure: unknown;
  await work.catch((error: unknown) => (failure = error));
  if (!(failure instanceof FacilitatorError)) assert.unreachable(`no failure of a facilitator: ${String(failure)}`);
  else assert.equal([failure.code, reason === undefined ? undefined : failure.reason], [code, reason], failure.message);
}
