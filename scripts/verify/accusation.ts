import type { ProofVerdict } from '../../protocol/proof/judge-proof.ts';
import type { ProofWord } from '../../protocol/proof/proof-word.ts';
import type { Misdeed } from '../../protocol/proof/misdeed.ts';
import { plain } from './report.ts';

/** What each word says of a proof of misbehaviour, and what to do about it. */
const MEANINGS: Readonly<Record<ProofWord, string>> = {
  'no-contradiction': 'what it shows goes together, or does not read',
  'rosters-do-not-join': 'its rosters do not follow one from another',
  'pin-does-not-join':
    'it is of another federation than the pinned one, or older than the pin: then --roster takes a FILE',
  'not-signed': 'a signature does not hold by a key that the member certified',
  'key-revoked': 'somebody else may have held a key that signed, or it was out of use there',
  contradicted: 'what is known besides this file says otherwise',
  'roster-without-majority': 'too few members show one of its rosters to be in force',
  'too-few-checkpoints': 'too few members show it: fetch it again from any node',
  'two-signed': 'the node signed both; look up both messages on the ledger, or ask a node, which reads it',
  consistent: 'all of it fits together, but nothing says that this is the federation you mean: give --roster',
  proven: 'shown by the signatures of the member itself, in the pinned federation',
};

const MISDEEDS: Readonly<Record<Misdeed, string>> = {
  'two-envelopes': 'two envelopes of one batch number, both named from its own account',
  'receipt-not-kept': 'a receipt that the decided batch does not keep',
  'two-checkpoints': 'two checkpoints over trees of which neither begins the other',
  'false-checkpoint': 'a checkpoint over another tree than that of a majority',
};

/** The word of a proof of misbehaviour, and what it says of whom. */
export function accusationOf({ word, proven, misdeed, accused, batch }: ProofVerdict): string {
  const whose = accused === null ? '' : ` by ${accused}${batch === null ? '' : `, batch ${batch}`}`;
  return plain(`${proven ? 'PROVEN' : `NOT PROVEN (${word})`}: ${misdeed}${whose}`);
}

/** What a person reads of a proof of misbehaviour, line by line: the word first, and again at the end. */
export function accusationLines(verdict: ProofVerdict, pinnedBy: string | null): readonly string[] {
  const { word, misdeed, detail, federation, pinned } = verdict;
  const pin =
    pinned === null
      ? 'NOT pinned'
      : `pinned by ${pinnedBy ?? 'what is known'}: roster ${pinned.version} ${pinned.hash}`;
  const lines = [
    accusationOf(verdict),
    `accusation  ${MISDEEDS[misdeed]}`,
    `meaning     ${MEANINGS[word]}`,
    ...(detail === '' ? [] : [`problem     ${detail}`]),
    `federation  ${federation ?? 'unreadable'} (${pin})`,
    'verdicts    an accusation moves none: what was decided stands',
    accusationOf(verdict),
  ];
  return lines.map(plain);
}
