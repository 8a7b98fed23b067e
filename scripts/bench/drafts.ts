import { tieredDraft } from '../../node/verification/attestation/decision-drafts.ts';
import { validator } from '../../node/http/validation.ts';
import type { Draft } from '../../node/intake/draft.ts';
import { TieredAttestRequestShape } from '../../protocol/api/tiered-attest.ts';
import { decisionBodies } from './decisions.ts';

const validate = validator(TieredAttestRequestShape);

/** Drafts as the HTTP API makes them of `decisionBodies`. */
export function decisionDrafts(total: number, account = 'bench'): Draft[] {
  return decisionBodies(total).map((body) =>
    tieredDraft(account, { request: validate(body), body, additional: new Map() }),
  );
}

/** Gives the drafts over and over: a draft has no identity before intake gives it one. */
export function roundRobin(drafts: readonly Draft[]): () => Draft {
  let next = 0;
  return () => {
    const draft = drafts[next++ % drafts.length];
    if (draft === undefined) throw new RangeError('no drafts');
    return draft;
  };
}
