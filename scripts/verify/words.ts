import type { Word } from '../../protocol/verdict/word.ts';

/** What each word of a verdict says, and what to do about it. */
export const MEANINGS: Readonly<Record<Word, string>> = {
  'not-signed': 'this is no record that its node signed, or the signature counts no more',
  contradicted: 'what is known besides this file says otherwise',
  'payload-damaged': 'the payload is not the one that was recorded',
  'rosters-do-not-join': 'its rosters do not follow one from another',
  'pin-does-not-join':
    'it is of another federation than the pinned one, or older than the pin: then --roster takes a FILE',
  'decision-mismatch': 'the ledger message that it shows does not name this batch, or cannot have decided it',
  misdated: 'the ledger message that it shows is older than the batch that it names',
  'no-batch-yet': 'signed, and not on the ledger yet: fetch it again later',
  'not-sealed': 'the batch that it shows does not hold this record',
  'no-decision-yet': 'signed, and not on the ledger yet: fetch it again later',
  stale: 'enough members vouched for it, by keys that were revoked since: fetch it again from any node',
  'too-few-checkpoints': 'too few members vouch for it: fetch it again from any node',
  'roster-without-majority': 'too few members show one of its rosters to be in force: fetch it again from any node',
  consistent: 'all of it fits together, but nothing says that this is the federation you mean: give --roster',
  verified: 'signed, on the ledger, and vouched for by a quorum of the pinned federation',
};
