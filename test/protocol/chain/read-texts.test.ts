import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { ReadTexts } from '../../../protocol/chain/read-texts.ts';
import { openRecord, type WholeTexts } from '../../../protocol/chain/record.ts';
import { StatementError } from '../../../protocol/statement/statement.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { recordAt } from '../../fixtures/federation-log-batch.ts';

const log = await FederationLog.create();
const sealed = await log.record('eu', [{}, {}]);
const textsOf = (i: number): WholeTexts => {
  const { head, body } = recordAt(sealed, i);
  return { head, body };
};

test('texts that were read say what they say, and stay as they were', () => {
  const given: { head: string; body: string } = { ...textsOf(0) };
  const read = new ReadTexts(nativeSuite, given);
  const record = openRecord(nativeSuite, textsOf(0));
  assert.equal(read.record, record);
  assert.equal({ ...read.headRead, ...read.bodyRead }, record);
  Object.assign(given, textsOf(1));
  assert.equal(JSON.parse(JSON.stringify(read)), textsOf(0));
  assert.equal(read.record, record);
});

test('texts that are not those of one record are refused', () => {
  const [first, second] = [textsOf(0), textsOf(1)];
  for (const texts of [
    { head: first.head, body: second.body },
    { head: ` ${first.head}`, body: first.body },
    { head: '{}', body: first.body },
    { head: first.head, body: `${first.body} ` },
  ]) {
    assert.throws(
      () => new ReadTexts(nativeSuite, texts),
      (error: unknown) => error instanceof StatementError,
    );
  }
});

test.run();
