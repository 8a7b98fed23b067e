import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../node/fsck/fsck.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

/** Together in one group, or a few: enough of them that a thread prepares one. */
const CALLS = 160;

test('a node whose groups are prepared in threads answers each call, and fsck opens every payload', async () => {
  await using network = await TestNetwork.start({ config: { intakeThreads: 2 } });
  const eu = network.node();
  const ids = await Promise.all(Array.from({ length: CALLS }, (_, i) => eu.attest({ input: i, decision: 'yes' })));
  assert.is(new Set(ids).size, CALLS);
  await eu.seal();
  await eu.stop();
  const { report } = await fsck(eu.config.home, { signal: new AbortController().signal, passphrase: null });
  assert.equal(
    report.findings.filter(({ severity }) => severity === 'problem'),
    [],
  );
  assert.is(report.counts.payloadsOpened, CALLS);
});

test.run();
