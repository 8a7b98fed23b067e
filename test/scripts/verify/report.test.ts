import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Bundle } from '../../../protocol/bundle/bundle.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { reportOf } from '../../../scripts/verify/report.ts';
import { withLinked } from '../../fixtures/federation-batch.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { reviewer } from '../../protocol/evidence/case.ts';

const federation = await TestFederation.create({ signerOf: nativeSigner });
const agentSignature = encodeSignature(new Uint8Array(3309));
const agent = { agentId: 'triage', agentKeyId: federation.chain.genesis, agentSignature };
const batch = await federation.sealBatch('eu', [{ claims: agent }]);
const original = batch.records[0]?.record.id;
if (original === undefined) throw new Error('no record');
const draft = { kind: 'human_override', links: { original }, claims: { reviewer: reviewer('a') } } as const;
const override = (await federation.sealBatch('us', [draft])).bundleFor(0);
const bundle = withLinked(batch.bundleFor(0, { disclose: false }), [override]);

test('the report names the record, each check, each clause with what it lacks, and ends with the verdict', () => {
  const lines = report(bundle);
  assert.match(lines[0] ?? '', `${original} · decision · node eu`);
  assert.ok(lines.includes('  – payloadHashMatch (payload withheld)'));
  assert.ok(lines.includes('  ✓ article14'));
  assert.ok(lines.includes('  – article14_5 (missing reviewOutcome, second-reviewer)'));
  assert.ok(lines.some((line) => /✓ att_us_\w+ · human_override/.test(line)));
  assert.ok(lines.includes('agent       triage (agent’s key unknown)'));
  assert.is(lines.at(-1), 'verified');
});

test('a linked record that does not hold is marked, with what is wrong, and shows nothing', () => {
  const lines = report({ ...bundle, linked: [{ ...override, record: { head: '{}', body: '{}' } }].map(proofOf) });
  assert.ok(lines.includes('  ✗ unreadable'));
  assert.ok(lines.some((line) => line.includes('leafRederived: record-malformed')));
  assert.ok(lines.includes('  – article14 (missing human_override)'));
  assert.is(lines.at(-1), 'verified');
});

test('a bundle that does not hold shows no evidence', () => {
  const body = bundle.record.body.replace('"channel":"direct"', '"channel":"tiered"');
  const lines = report({ ...bundle, record: { ...bundle.record, body } });
  assert.ok(lines.includes('  – article12_1 (missing signature)'));
  assert.not(lines.some((line) => line.startsWith('agent')));
  assert.is(lines.at(-1), 'NOT VERIFIED');
});

function report(of: Bundle): readonly string[] {
  return reportOf(verifyBundle(nativeSuite, of), null, false);
}

function proofOf({ record, receipt, batch: sealed, cosignatures, anchor }: Bundle) {
  return { record, receipt, batch: sealed, cosignatures, anchor };
}

test.run();
