import { utf8 } from '../bytes.ts';
import { hashBytes, writeSha384 } from '../hash.ts';
import { nextRunningHash } from '../ledger/running-hash.ts';
import { entityParts } from '../ledger/entity.ts';
import { writeLedgerMessage } from '../log/message.ts';
import { nameEnvelope } from '../log/naming.ts';
import type { Suite } from '../suite/suite.ts';
import type { BundleAnchor } from './bundle.ts';
import type { OpenedProof } from './opened-proof.ts';
import type { Finding, FindingCode } from './verdict.ts';

/**
 * The ledger part of check 4: the anchor message is the envelope's, stands on the roster's ledger, and its running hash
 * follows from the one before. Offline this is consistency; a node also compares it with its own reading of the topic.
 */
export function checkAnchor(suite: Suite, opened: OpenedProof): readonly Finding[] {
  const { proof, envelope, anchorMessage, rosters } = opened;
  if (proof.anchor === null) return [];
  if (proof.batch === null || envelope === null) return [unanchored('anchor-mismatch', 'an anchor without a batch')];
  // What is no anchor message was named as it was opened, and has no running hash to recompute.
  if (anchorMessage === null) return [];
  const findings: Finding[] = [];
  if (rosters !== null) {
    const expected = nameEnvelope(suite, rosters.genesis, envelope, proof.batch.envelope);
    if (writeLedgerMessage(expected) !== proof.anchor.message) {
      findings.push(unanchored('anchor-mismatch', 'the anchor message is not that of this batch'));
    }
  }
  const ledger = rosters?.current.ledger;
  if (ledger !== undefined && (ledger.network !== proof.anchor.network || ledger.topicId !== proof.anchor.topicId)) {
    findings.push(unanchored('ledger-mismatch', 'the anchor is not on the ledger topic of the roster'));
  }
  if (recomputeRunningHash(suite, proof.anchor) !== proof.anchor.runningHash) {
    findings.push(unanchored('running-hash-mismatch', 'the running hash does not follow from the anchor message'));
  }
  return findings;
}

function recomputeRunningHash(suite: Suite, anchor: BundleAnchor): string {
  const [seconds = '0', nanos = '0'] = anchor.consensusTimestamp.split('.');
  return writeSha384(
    nextRunningHash((data) => suite.sha384(data), {
      previous: hashBytes(anchor.previousRunningHash),
      payer: entityParts(anchor.payer),
      topic: entityParts(anchor.topicId),
      seconds: BigInt(seconds),
      nanos: Number(nanos),
      sequence: BigInt(anchor.sequence),
      message: utf8(anchor.message),
    }),
  );
}

function unanchored(code: FindingCode, detail: string): Finding {
  return { check: 'bundleBinding', code, detail };
}
