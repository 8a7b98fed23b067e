import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Evidence } from '../../../node/verification/evidence.ts';
import type { LogQuestions } from '../../../node/verification/log-knowledge.ts';
import { RecordJudge } from '../../../node/verification/record-judge.ts';
import type { NodeKey } from '../../../node/verification/signing-keys.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { openRecord } from '../../../protocol/chain/record.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

const ledger = await Ledger.create();
const { log } = ledger;
const sealed = await ledger.record('eu', [{}]);
const checkpoints = await Promise.all(log.roster().roster.members.map(({ node }) => log.checkpoint(node)));
const node = await openNodeLog(ledger, checkpoints);
test.after(() => node[Symbol.asyncDispose]());

test('what a key signed whose revocation is in force and not known here is not verified', async () => {
  const { record, receipt, batch } = await bundleOf(log, sealed);
  if (record.body === null) throw new Error('a record without its body');
  const { head, body } = record;
  const evidence: Evidence = {
    record: openRecord(nativeSuite, { head, body }),
    batch: undefined,
    proof: { record: { head, body }, receipt, batch },
    decision: decisionText.parse(log.decisions[log.indexOf(sealed) ?? 0] ?? ''),
    isHeld: true,
  };
  const judge = (...unclear: readonly NodeKey[]) => {
    const ask = async (questions: LogQuestions) => ({ ...(await node.knowledge.ask(questions)), unclear });
    return new RecordJudge({ keys: node.keys, knowledge: { ask } }).judge(evidence);
  };
  const { keyId } = sealed.envelope;
  assert.is((await judge()).word, 'verified');
  assert.is((await judge({ node: nodeId('us'), keyId })).word, 'verified');
  assert.is((await judge({ node: nodeId('eu'), keyId })).word, 'too-few-checkpoints');
});

test.run();
