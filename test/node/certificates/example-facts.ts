import type { CertificateFacts } from '../../../node/certificates/certificate-facts.ts';
import { hashText } from '../../../protocol/hash.ts';
import { entityId, nodeId, recordId } from '../../../protocol/ids.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { isConsensusTimestamp, timestampOf } from '../../../protocol/time.ts';

const CONSENSUS = '1795269810.500000000';
if (!isConsensusTimestamp(CONSENSUS)) throw new RangeError('no time of the ledger');
const HASH = hashText(nobleSuite, 'example');

/** Of a confirmed record, as another node reports it. */
export const EXAMPLE_FACTS: CertificateFacts = {
  id: recordId('dec_eu_01KAK4J1JB5K4Q3X5M0000000A'),
  kind: 'decision',
  node: nodeId('eu'),
  submittedAt: timestampOf(Date.UTC(2026, 10, 21, 14, 3, 28, 107)),
  keyId: HASH,
  reportedBy: nodeId('us'),
  pageUrl: 'https://us.meridian.example/v/dec_eu_01KAK4J1JB5K4Q3X5M0000000A',
  verdict: {
    word: 'verified',
    checks: {
      leafRederived: true,
      payloadHashMatch: true,
      proofWalk: true,
      bundleBinding: true,
      sigValid: true,
    },
    facts: {
      signed: 'holds',
      sealed: 'holds',
      decision: 'fits',
      onLedger: true,
      witnessed: true,
      checkpoints: 'enough',
      contradicted: false,
      payload: 'disclosed',
      rosters: 'in-force',
      pin: 'joins',
    },
    problems: [],
    ledger: {
      network: 'testnet',
      topicId: entityId('0.0.4242'),
      sequence: '8812',
      consensusTimestamp: CONSENSUS,
      at: timestampOf(Date.UTC(2026, 10, 21, 14, 3, 30, 500)),
      isLate: false,
    },
    restsOn: { version: 2, hash: HASH },
    witnesses: [nodeId('us'), nodeId('jp')],
    federation: HASH,
  },
  asserted: null,
};

/** In the place of a proof. */
export const EXAMPLE_PROOF = JSON.stringify({ format: 'meridian-bundle/2', text: 'ü𝔘'.repeat(20_000) });
