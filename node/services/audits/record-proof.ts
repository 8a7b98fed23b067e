import type { VerifiedRecord } from '../../verification/verifier.ts';
import { failed, type Outcome, passed } from './outcome.ts';

/** Faults that are told by name. */
const MAX_NAMED = 5;

/** M1: the verdict's facts of the record itself, from the stored bytes. Whether it is on the ledger is M2's to say. */
export function checkRecordProof({ verdict: { checks, facts, problems } }: VerifiedRecord): Outcome {
  const { leafRederived, payloadHashMatch, proofWalk, bundleBinding, sigValid } = checks;
  const holds = leafRederived && proofWalk && bundleBinding && sigValid && !facts.contradicted;
  if (holds && payloadHashMatch) return passed('leaf, payload, proofs, binding and signatures hold');
  if (holds && facts.payload !== 'disclosed' && facts.payload !== 'damaged') {
    return passed(`leaf, proofs, binding and signatures hold; the payload was not at hand (${facts.payload})`);
  }
  const codes = [...new Set(problems.map(({ code }) => code))].slice(0, MAX_NAMED);
  return failed(`it does not hold: ${codes.join(', ')}`);
}
