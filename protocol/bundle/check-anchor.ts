import { utf8 } from '../bytes.ts';
import { hashBytes, writeSha384 } from '../hash.ts';
import { batchAnchor, writeAnchorMessage } from '../ledger/anchor-message.ts';
import { nextRunningHash } from '../ledger/running-hash.ts';
import { entityParts } from '../ledger/entity.ts';
import type { Suite } from '../suite/suite.ts';
import type { BundleAnchor } from './bundle.ts';
import type { OpenedBundle } from './opened-bundle.ts';
import type { Finding, FindingCode } from './verdict.ts';

/**
 * The ledger part of check 4: the anchor message is the envelope's, stands on the roster's ledger, and its running hash
 * follows from the one before. Offline this is consistency; a node also compares it with its own reading of the topic.
 */
export function checkAnchor(suite: Suite, opened: OpenedBundle): readonly Finding[] {
  const { bundle, envelope, anchorMessage, rosters } = opened;
  if (bundle.anchor === null) return [];
  if (bundle.batch === null || envelope === null) return [unanchored('anchor-mismatch', 'an anchor without a batch')];
  // What is no anchor message was named as it was opened, and has no running hash to recompute.
  if (anchorMessage === null) return [];
  const findings: Finding[] = [];
  if (rosters !== null) {
    const expected = batchAnchor(suite, rosters.federation, envelope, bundle.batch.envelope);
    if (writeAnchorMessage(expected) !== bundle.anchor.message) {
      findings.push(unanchored('anchor-mismatch', 'the anchor message is not that of this batch'));
    }
  }
  const ledger = rosters?.version(envelope.roster)?.ledger;
  if (ledger !== undefined && (ledger.network !== bundle.anchor.network || ledger.topicId !== bundle.anchor.topicId)) {
    findings.push(unanchored('ledger-mismatch', 'the anchor is not on the ledger topic of the roster'));
  }
  if (recomputeRunningHash(suite, bundle.anchor) !== bundle.anchor.runningHash) {
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
